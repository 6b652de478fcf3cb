package sealward

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
)

// Column is an encrypted column of a table. T is the type of its values in the program; the database stores envelopes as
// text. A value that moves to another table or column cannot be opened, because both are the context of its envelope.
//
//	iban := sealward.NewColumn[string](client, "customers", "iban", "POL-000001")
//	_, err = db.ExecContext(ctx, "INSERT INTO customers (iban) VALUES ($1)", iban.Seal(ctx, "DE02…"))
//	err = db.QueryRowContext(ctx, "SELECT iban FROM customers").Scan(iban.Open(ctx, &value))
//
// A T that is a pointer is NULL as nil.
type Column[T any] struct {
	client       *Client
	policyNumber string
	context      Context
}

// NewColumn returns the column of a table. Without a policy number, the policy that is bound to the credential decides.
func NewColumn[T any](client *Client, table, column, policyNumber string) Column[T] {
	return Column[T]{client: client, policyNumber: policyNumber, context: Context{"table": table, "column": column}}
}

// Seal returns an argument of a statement, which seals the value when the statement is executed.
func (c Column[T]) Seal(ctx context.Context, value T) driver.Valuer {
	return sealedValue[T]{ctx: ctx, column: c, value: value}
}

// Open returns a destination of Scan, which opens the envelope into the value that target points to.
func (c Column[T]) Open(ctx context.Context, target *T) sql.Scanner {
	return openedValue[T]{ctx: ctx, column: c, target: target}
}

// SealAll seals values in batches. A nil pointer becomes the zero Envelope, which is NULL.
func (c Column[T]) SealAll(ctx context.Context, values []T) ([]Envelope, error) {
	sealed := make([]Envelope, len(values))
	var requests []ProtectRequest
	var places []int
	for place, value := range values {
		if !isNil(value) {
			requests = append(requests, ProtectRequest{Payload: value, PolicyNumber: c.policyNumber, Context: c.context})
			places = append(places, place)
		}
	}
	results, err := c.client.ProtectBatch(ctx, requests)
	if err != nil {
		return nil, err
	}
	for index, result := range results {
		if result.Err != nil {
			return nil, fmt.Errorf("value %d: %w", places[index], result.Err)
		}
		sealed[places[index]] = result.Value.Envelope
	}
	return sealed, nil
}

// OpenAll opens envelopes in batches. The zero Envelope, which is NULL, becomes the zero value of T.
func (c Column[T]) OpenAll(ctx context.Context, envelopes []Envelope) ([]T, error) {
	values := make([]T, len(envelopes))
	var requests []UnprotectRequest
	var places []int
	for place, envelope := range envelopes {
		if !envelope.IsZero() {
			requests = append(requests, c.opening(envelope))
			places = append(places, place)
		}
	}
	results, err := c.client.UnprotectBatch(ctx, requests)
	if err != nil {
		return nil, err
	}
	for index, result := range results {
		err := result.Err
		if err == nil {
			err = result.Value.Decode(&values[places[index]])
		}
		if err != nil {
			return nil, fmt.Errorf("envelope %d: %w", places[index], err)
		}
	}
	return values, nil
}

func (c Column[T]) opening(envelope Envelope) UnprotectRequest {
	return UnprotectRequest{Envelope: envelope, PolicyNumber: c.policyNumber, Context: c.context}
}

type sealedValue[T any] struct {
	ctx    context.Context
	column Column[T]
	value  T
}

func (s sealedValue[T]) Value() (driver.Value, error) {
	if isNil(s.value) {
		return nil, nil
	}
	request := ProtectRequest{Payload: s.value, PolicyNumber: s.column.policyNumber, Context: s.column.context}
	protected, err := s.column.client.Protect(s.ctx, request)
	if err != nil {
		return nil, err
	}
	return protected.Envelope.Value()
}

func (s sealedValue[T]) String() string   { return redacted }
func (s sealedValue[T]) GoString() string { return redacted }

type openedValue[T any] struct {
	ctx    context.Context
	column Column[T]
	target *T
}

func (o openedValue[T]) Scan(column any) error {
	var envelope Envelope
	if err := envelope.Scan(column); err != nil {
		return err
	}
	if envelope.IsZero() {
		if !canBeNil[T]() {
			return refuse(ErrUnexpectedAnswer, fmt.Sprintf("NULL does not fit into %T", *o.target))
		}
		var null T
		*o.target = null
		return nil
	}
	payload, err := o.column.client.Unprotect(o.ctx, o.column.opening(envelope))
	if err != nil {
		return err
	}
	return payload.Decode(o.target)
}

func canBeNil[T any]() bool {
	switch reflect.TypeOf((*T)(nil)).Elem().Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

func isNil(value any) bool {
	reflected := reflect.ValueOf(value)
	switch reflected.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return reflected.IsNil()
	}
	return false
}
