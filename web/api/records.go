package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
)

// record is what the API tells of one. Values have masks in place of secrets.
type record struct {
	ID              uuid.UUID    `json:"id"`
	CurrentRevision int          `json:"current_revision"`
	CatalogID       uuid.UUID    `json:"catalog_id"`
	ClusterID       *uuid.UUID   `json:"cluster_id"` // null while it is free
	Values          store.Values `json:"values"`
	SchemaMatches   bool         `json:"schema_matches"`
	CreatedAt       moment       `json:"created_at"`
	UpdatedAt       moment       `json:"updated_at"`
	ArchivedAt      *moment      `json:"archived_at"`
	ArchiveNumber   *int         `json:"archive_number"`
}

func recordOf(r store.Record, shown store.Values, cluster *uuid.UUID) record {
	return record{
		ID: r.ID, CurrentRevision: r.Revision, CatalogID: r.CatalogID, ClusterID: cluster, Values: shown, SchemaMatches: r.SchemaMatches,
		CreatedAt: moment(r.CreatedAt), UpdatedAt: moment(r.ChangedAt), ArchivedAt: optional(r.ArchivedAt), ArchiveNumber: r.ArchiveNumber,
	}
}

type wantedRecord struct {
	CatalogID       *string      `json:"catalog_id"`
	CurrentRevision *int         `json:"current_revision"`
	Values          store.Values `json:"values"`
}

func (a *api) listRecords(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	rows, err := a.fleet.AllRecords(r.Context(), c.actor, c.workspace.ID, r.URL.Query().Get("without_archived") != "true")
	if err != nil {
		return err
	}
	out := make([]record, 0, len(rows))
	for _, row := range rows {
		out = append(out, recordOf(row.Record, row.Shown, row.ClusterID))
	}
	send(w, http.StatusOK, out)
	return nil
}

// answerRecord sends a record as it is now.
func (a *api) answerRecord(w http.ResponseWriter, r *http.Request, code int, id uuid.UUID) error {
	view, err := a.fleet.Record(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	var cluster *uuid.UUID
	if len(view.Users) > 0 {
		cluster = &view.Users[0].ID
	}
	send(w, code, recordOf(view.Record, view.Shown, cluster))
	return nil
}

func (a *api) showRecord(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	return a.answerRecord(w, r, http.StatusOK, id)
}

func (a *api) createRecord(w http.ResponseWriter, r *http.Request) error {
	var body wantedRecord
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"catalog_id", body.CatalogID != nil}, attribute{"values", body.Values != nil}); err != nil {
		return err
	}
	catalogID, err := uuid.Parse(*body.CatalogID)
	if err != nil {
		return fault.Wrap(fault.NotFound, err, "fault.not_found")
	}
	made, err := a.fleet.CreateRecord(r.Context(), callerOf(r.Context()).actor, catalogID, body.Values)
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+made.ID.String())
	return a.answerRecord(w, r, http.StatusCreated, made.ID)
}

func (a *api) changeRecord(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body wantedRecord
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"current_revision", body.CurrentRevision != nil}, attribute{"values", body.Values != nil}); err != nil {
		return err
	}
	if _, err := a.fleet.ChangeRecord(r.Context(), callerOf(r.Context()).actor, id, *body.CurrentRevision, body.Values); err != nil {
		return err
	}
	return a.answerRecord(w, r, http.StatusOK, id)
}

// deleteRecord answers with the record as it was.
func (a *api) deleteRecord(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	actor := callerOf(r.Context()).actor
	view, err := a.fleet.Record(r.Context(), actor, id)
	if err != nil {
		return err
	}
	if _, err := a.fleet.DeleteRecord(r.Context(), actor, id); err != nil {
		return err
	}
	send(w, http.StatusOK, recordOf(view.Record, view.Shown, nil))
	return nil
}

func (a *api) archiveRecord(w http.ResponseWriter, r *http.Request) error {
	return a.onRecord(w, r, a.fleet.ArchiveRecord)
}

func (a *api) restoreRecord(w http.ResponseWriter, r *http.Request) error {
	return a.onRecord(w, r, a.fleet.RestoreRecord)
}

// onRecord does something with a record and answers with it.
func (a *api) onRecord(w http.ResponseWriter, r *http.Request, do func(context.Context, fleet.Actor, uuid.UUID) (store.Record, error)) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := do(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.answerRecord(w, r, http.StatusOK, id)
}
