// Package flight lets concurrent callers share one piece of work.
//
// Unlike the usual single flight the work does not belong to the first caller: it
// goes on while anybody waits for it, and is cancelled when nobody does. It must
// never keep a result: whoever comes after the end begins anew.
package flight
