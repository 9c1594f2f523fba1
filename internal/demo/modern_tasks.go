package demo

import (
	"context"
	"errors"
)

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// taskFields is the Task of a job: what every rendering of it has. Spec:
// ext-tasks "Tasks".
func (m *Modern) taskFields(s snapshot) object {
	view := object{
		"taskId": s.id, "status": s.status,
		"createdAt": s.created.UTC().Format(timeFormat), "lastUpdatedAt": s.updated.UTC().Format(timeFormat),
		"ttlMs": m.opts.TaskTTL.Milliseconds(), "pollIntervalMs": m.opts.PollInterval.Milliseconds(),
	}
	if s.message != "" {
		view["statusMessage"] = s.message
	}
	return view
}

// taskView is the DetailedTask of a job. Spec: ext-tasks "Task Status".
func (m *Modern) taskView(s snapshot) object {
	view := m.taskFields(s)
	switch s.status {
	case jobInput:
		view["inputRequests"] = inputRequests(s.open)
	case jobCompleted:
		view["result"] = callResult(s.out)
	case jobFailed:
		view["error"] = failureBody(s.err)
	case jobWorking, jobCancelled:
	}
	return view
}

func (m *Modern) getTask(_ context.Context, req *request, _ *reply) (object, error) {
	s, err := m.jobs.get(taskID(req))
	if err != nil {
		return nil, taskError(err)
	}
	return m.taskView(s), nil
}

func (m *Modern) updateTask(_ context.Context, req *request, _ *reply) (object, error) {
	given, err := readObject(req.params["inputResponses"])
	if err != nil {
		return nil, invalid("params.inputResponses: %v", err)
	}
	if err := m.jobs.update(taskID(req), given); err != nil {
		return nil, taskError(err)
	}
	return object{}, nil
}

func (m *Modern) cancelTask(_ context.Context, req *request, _ *reply) (object, error) {
	if _, err := m.jobs.cancel(taskID(req)); err != nil {
		return nil, taskError(err)
	}
	return object{}, nil
}

// taskID is the id in the params, which judgeMethod found to be a string.
func taskID(req *request) string {
	id, _ := readString(req.params["taskId"])
	return id
}

// taskError says -32602 for an unknown task as for a bad answer.
func taskError(err error) error {
	if errors.Is(err, errNoJob) {
		return invalid("params.taskId: %v", err)
	}
	return invalid("params.%v", err)
}
