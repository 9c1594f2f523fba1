package readme

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// driver is the loop that bash runs: it reads the name of a block's file from
// descriptor 3, runs the block in this very shell, and writes its status to
// descriptor 4. The trap notices a failing command in the middle, where set -e
// would end the shell and its variables.
const driver = `trap 'ci_status=$?' ERR
while IFS= read -r ci_block <&3; do
	ci_status=0
	. "$ci_block" </dev/null 3<&- 4>&-
	echo "$ci_status" >&4
done`

// shell is one bash that runs blocks one after the other.
type shell struct {
	dir    string // for scratch files
	cmd    *exec.Cmd
	names  *os.File      // written: files of blocks
	status *bufio.Reader // read: their exit statuses
	output *os.File      // what the blocks print
	count  int
}

func startShell(ctx context.Context, work, scratch string, env []string) (*shell, error) {
	output, err := os.CreateTemp(scratch, "output")
	if err != nil {
		return nil, err
	}
	namesRead, names, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	statusRead, status, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := command(ctx, work, env, "bash", "--noprofile", "--norc", "-c", driver)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.ExtraFiles = []*os.File{namesRead, status}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// The child has these ends now; ours would keep its pipes open.
	if err := errors.Join(namesRead.Close(), status.Close()); err != nil {
		return nil, err
	}
	return &shell{dir: scratch, cmd: cmd, names: names, status: bufio.NewReader(statusRead), output: output}, nil
}

// run runs one block and returns what it printed and the status of its last
// command that failed.
func (s *shell) run(script string) (output string, status int, err error) {
	s.count++
	file := filepath.Join(s.dir, "block-"+strconv.Itoa(s.count)+".sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return "", 0, err
	}
	// The file's position is shared with bash, so what was read is what is new.
	before, err := s.output.Seek(0, 1)
	if err != nil {
		return "", 0, err
	}
	if _, err := fmt.Fprintln(s.names, file); err != nil {
		return "", 0, fmt.Errorf("bash has ended: %w", err)
	}
	line, readErr := s.status.ReadString('\n')
	all, err := os.ReadFile(s.output.Name())
	if err != nil {
		return "", 0, err
	}
	output = string(all[min(before, int64(len(all))):])
	if readErr != nil {
		return output, 0, errors.New("bash ended during the block")
	}
	status, err = strconv.Atoi(strings.TrimSpace(line))
	return output, status, err
}

// stop ends bash and whatever its blocks left running.
func (s *shell) stop() {
	_ = s.names.Close() // its loop ends at the end of this
	killGroup(s.cmd)
	_ = s.cmd.Wait() // killed on purpose
	_ = s.output.Close()
}
