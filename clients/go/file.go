package sealward

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// copyBuffer is how much of a file is in memory at once, beside one segment.
const copyBuffer = 256 << 10

// EncryptFile encrypts a file into another one. The target appears, or is replaced, when it is complete.
func (c *Client) EncryptFile(ctx context.Context, source, target string, options FileOptions) error {
	return replaceFile(source, target, func(input *os.File, output io.Writer) error {
		total, err := sizeOf(input)
		if err != nil {
			return err
		}
		writer, err := c.encryptWriter(ctx, output, options, total)
		if err != nil {
			return err
		}
		if err := copyWithin(ctx, writer, input); err != nil {
			return err
		}
		return writer.Close()
	})
}

// DecryptFile decrypts a sealed file into another one. It writes beside the target, and renames after the last segment,
// so the target never has plaintext that is not complete and authentic.
func (c *Client) DecryptFile(ctx context.Context, source, target string, options FileOptions) error {
	return replaceFile(source, target, func(input *os.File, output io.Writer) error {
		reader, err := c.decryptReader(ctx, input, options, -1)
		if err != nil {
			return err
		}
		return copyWithin(ctx, output, reader)
	})
}

// replaceFile writes a new file beside the target, and renames it if write succeeds.
func replaceFile(source, target string, write func(*os.File, io.Writer) error) (err error) {
	input, err := os.Open(source)
	if err != nil {
		return err
	}
	defer input.Close()
	output, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			output.Close()
			os.Remove(output.Name())
		}
	}()
	if err = write(input, output); err != nil {
		return err
	}
	if err = output.Sync(); err != nil {
		return err
	}
	if err = output.Close(); err != nil {
		return err
	}
	return os.Rename(output.Name(), target)
}

// copyWithin copies until ctx ends.
func copyWithin(ctx context.Context, target io.Writer, source io.Reader) error {
	buffer := make([]byte, copyBuffer)
	defer wipe(buffer)
	for {
		if err := ctx.Err(); err != nil {
			return broken(ctx, err)
		}
		count, err := source.Read(buffer)
		if count > 0 {
			if _, err := target.Write(buffer[:count]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sizeOf returns -1 for what has no size, such as a pipe.
func sizeOf(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return -1, nil
	}
	return info.Size(), nil
}
