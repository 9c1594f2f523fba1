package embedded

import (
	"context"
	"log/slog"
	"time"
)

const (
	// sweepEvery is how long expired rows stay in the database at least. They
	// are invisible meanwhile.
	sweepEvery = 30 * time.Second
	// sweepBatch bounds the rows that one transaction removes, so that writers
	// do not wait long for it.
	sweepBatch = 500
)

// scheduleSweep starts the timer if there is something that expires.
func (w *writer) scheduleSweep() {
	if w.expiring && w.sweeping.C == nil {
		w.sweeping = w.env.NewTimer(sweepEvery)
	}
}

func (w *writer) cancelSweep() {
	if w.sweeping.C != nil {
		w.sweeping.Stop()
	}
}

// sweep removes expired rows batch by batch, and lets waiting writes pass
// between two batches. A failure is logged and left to the next sweep.
func (w *writer) sweep(ctx context.Context) {
	for {
		var swept int64
		var left bool
		err := w.transact(ctx, func(tx *txn) (err error) {
			if swept, err = tx.exec(stmtSweepRecords, tx.now, sweepBatch); err != nil {
				return err
			}
			if _, err = tx.exec(stmtSweepLeases, tx.now); err != nil {
				return err
			}
			left, err = anyExpiring(ctx, tx.tx)
			return err
		})
		if err != nil {
			w.log.LogAttrs(ctx, slog.LevelWarn, "state: sweeping expired records failed", slog.Any("error", err))
			return
		}
		w.expiring = left
		if swept < sweepBatch || w.flush(ctx) {
			return
		}
	}
}
