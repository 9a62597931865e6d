package queue

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Journal appends every change to a file, so that the queue can be rebuilt after a crash.
type Journal struct {
	file *os.File
}

type record struct {
	Put    *Job   `json:"put,omitempty"`
	Remove uint64 `json:"remove,omitempty"`
}

// OpenJournal opens or creates the file for appending.
func OpenJournal(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Journal{file: file}, nil
}

// Append writes one record and forces it to the disk before it returns.
func (j *Journal) Append(entry record) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// Replay feeds all complete records to a store; a torn last line, left by a power cut, is ignored.
func (j *Journal) Replay(store Store) error {
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewScanner(j.file)
	for lines.Scan() {
		var entry record
		if json.Unmarshal(lines.Bytes(), &entry) != nil {
			break
		}
		if entry.Put != nil {
			if err := store.Put(entry.Put); err != nil {
				return err
			}
			continue
		}
		if err := store.Remove(entry.Remove); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Close closes the file.
func (j *Journal) Close() error {
	return j.file.Close()
}
