// Package readme runs the commands of a Markdown document as a reader would,
// and compares what they print with what the document says they print.
//
// A marker, an HTML comment on a line of its own, stands above each fenced
// block of shell commands (```sh, ```bash, ```shell, ```console):
//
//	<!-- ci: serve -->          start the block in the background; the next fenced
//	                            block (text) holds the lines it prints when it is
//	                            ready, in order, other lines allowed in between.
//	                            It is interrupted at the end, or by the next
//	                            serve, and must then exit with 0.
//	<!-- ci: run -->            run the block in one bash that all run blocks share,
//	                            so variables carry over. Every command in it must
//	                            succeed.
//	<!-- ci: test -->           a block for CI's test step: run by itself, its output
//	                            shown and not compared, and only when tests are
//	                            asked for.
//	<!-- ci: skip: REASON -->   not run.
//
// run takes exit=N, the status the block's last failing command must have, and
// run, serve and test take timeout=D (1m; 5m to be ready; 30m): ci: run
// exit=1 timeout=10s. A block of shell commands without a marker is an error:
// nothing is left out in silence.
//
// The first text or json block after a run block, before any other fenced
// block, is its expected output, standard output and error together. A block
// that is not meant so carries <!-- ci: example -->. In expected output
//
//   - ... or … stands for any text within a line, also none;
//   - a line that is only ... or … stands for any number of lines, also none;
//   - <name> (lower-case letters, digits, hyphens) stands for some text without
//     spaces or quotes: "taskId":"<handle>".
//
// A text block is compared line by line, white space at the ends of lines
// aside. A json block is compared without the white space between JSON tokens,
// so the document may lay out what a server sends on one line; there ... stands
// for any text, across members too. The order of members counts.
//
// curl needs -s in such blocks: without a terminal it prints a progress meter.
//
// It must never be imported by what is shipped. It needs bash.
package readme
