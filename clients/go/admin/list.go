package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sealward.dev/go"
)

// query is a query string that keeps the order of its parameters.
type query struct{ text string }

func (q *query) add(name, value string) {
	if value == "" {
		return
	}
	if q.text != "" {
		q.text += "&"
	}
	q.text += name + "=" + url.QueryEscape(value)
}

func (q *query) addNumber(name string, value int) {
	if value != 0 {
		q.add(name, strconv.Itoa(value))
	}
}

func (q *query) addTime(name string, value time.Time) {
	if !value.IsZero() {
		q.add(name, value.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
}

func (q query) of(path string) string {
	if q.text == "" {
		return path
	}
	return path + "?" + q.text
}

// filter selects the items of a list.
type filter interface{ query() query }

// Pager iterates over all items of a list. It asks for a page when the one before it is used up.
//
//	services := management.Services.List(admin.ServiceFilter{})
//	for services.Next(ctx) {
//		fmt.Println(services.Item().Name)
//	}
//	err := services.Err()
type Pager[R any] struct {
	caller caller
	path   string
	query  query
	page   []R
	cursor *string
	begun  bool
	item   *R
	err    error
}

// Next goes to the next item. It reports false after the last one, and after an error.
func (p *Pager[R]) Next(ctx context.Context) bool {
	for p.err == nil && len(p.page) == 0 && (!p.begun || p.cursor != nil) {
		p.load(ctx)
	}
	if p.err != nil || len(p.page) == 0 {
		p.item = nil
		return false
	}
	p.item, p.page = &p.page[0], p.page[1:]
	return true
}

// Item returns the item to which Next went.
func (p *Pager[R]) Item() *R { return p.item }

// Err returns the error that ended the iteration, or nil.
func (p *Pager[R]) Err() error { return p.err }

// All returns the remaining items.
func (p *Pager[R]) All(ctx context.Context) ([]R, error) {
	var items []R
	for p.Next(ctx) {
		items = append(items, *p.Item())
	}
	return items, p.Err()
}

func (p *Pager[R]) load(ctx context.Context) {
	wanted := p.query
	if p.cursor != nil {
		wanted.add("cursor", *p.cursor)
	}
	found, err := read[page[R]](ctx, p.caller, wanted.of(p.path))
	if err != nil {
		p.err = err
		return
	}
	p.begun, p.page, p.cursor = true, found.Items, found.NextCursor
}

type page[R any] struct {
	Items      []R     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// Stream iterates over the lines of an export while they arrive. Close it.
type Stream[R any] struct {
	body  io.ReadCloser
	lines *bufio.Reader
	item  *R
	err   error
}

func export[R any](ctx context.Context, c caller, path string) (*Stream[R], error) {
	body, err := c.client.Stream(ctx, sealward.Request{
		Method: http.MethodGet, Path: path, Header: http.Header{"Accept": {"application/x-ndjson"}},
	})
	if err != nil {
		return nil, err
	}
	return &Stream[R]{body: body, lines: bufio.NewReader(body)}, nil
}

// Next goes to the next line. It reports false after the last one, and after an error.
func (s *Stream[R]) Next() bool {
	s.item = nil
	if s.err != nil {
		return false
	}
	line, err := s.lines.ReadBytes('\n')
	switch {
	case err == io.EOF && strings.TrimSpace(string(line)) == "":
		return false
	case err == io.EOF:
		s.err = &sealward.Error{Kind: sealward.ErrConnectionFailed, Message: "the export ended within a line"}
	case err != nil:
		s.err = err
	default:
		item := new(R)
		if json.Unmarshal(line, item) != nil {
			s.err = &sealward.Error{Kind: sealward.ErrUnexpectedAnswer, Message: "a line of the export is not the documented JSON"}
			return false
		}
		s.item = item
	}
	return s.item != nil
}

// Item returns the item to which Next went.
func (s *Stream[R]) Item() *R { return s.item }

// Err returns the error that ended the iteration, or nil. An export that was cut off is an error.
func (s *Stream[R]) Err() error { return s.err }

// Close ends the export.
func (s *Stream[R]) Close() error { return s.body.Close() }
