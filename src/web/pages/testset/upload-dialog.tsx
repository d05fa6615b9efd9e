import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { useUpload } from '../../api/upload.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { FileNotes, FileDrop, chosen, fieldsOf, FileFields, UploadShown } from '../../parts/upload/upload.tsx'
import { places } from '../../shell/places.ts'
import type { Testset, TestsetRevision } from './rows.ts'

export interface UploadDialogProps {
  readonly testset: Testset
  /** The current revision; undefined for a testset without versions. */
  readonly revision: TestsetRevision | undefined
  /** A file that was dropped. */
  readonly file: File | undefined
  readonly close: () => void
}

/** Uploads a file as the next version of a variant, and tells what it changed. */
export function UploadDialog({ testset, revision, file, close }: UploadDialogProps) {
  const [picked, setPicked] = useState(() => file && chosen(file))
  const [message, setMessage] = useState('')
  const [base] = useState(revision)
  const next = useUpload('POST /testsets/revisions/{id}/upload')
  const first = useUpload('POST /simple/testsets/{id}/upload')
  const { state, cancel } = base ? next : first
  const variant = base?.testset_variant_slug ?? testset.slug
  const isBusy = state.at === 'sending'
  const committed = next.state.at === 'done' ? next.state.answer.testset_revision : undefined
  const came =
    next.state.at === 'done' ? next.state.answer : first.state.at === 'done' ? first.state.answer : {}

  function send(): void {
    if (!picked) return
    const common = { file: picked.file, fields: fieldsOf(picked) }
    if (base) {
      // The revision may be on several variants: right after a fork it is.
      const fields = { ...common.fields, message, variant_id: base.testset_variant_id }
      void next.start({ ...common, path: { id: base.id }, fields })
    } else void first.start({ ...common, path: { id: testset.id } })
  }

  return (
    <Modal
      open
      close={close}
      title={`Upload to ${variant}`}
      actions={
        state.at === 'done' ? (
          <Button kind="primary" onClick={close}>
            Show the rows
          </Button>
        ) : (
          <>
            {isBusy ? <Button onClick={cancel}>Stop</Button> : <Button onClick={close}>Cancel</Button>}
            <Button
              kind="primary"
              needs="write"
              busy={isBusy}
              refusal={picked ? undefined : 'Choose a file first.'}
              onClick={send}
            >
              Upload to {variant}
            </Button>
          </>
        )
      }
    >
      {state.at === 'done' ? (
        <>
          <Result testset={testset} base={base} committed={committed} />
          <FileNotes {...came} />
        </>
      ) : (
        <FileDrop label="Drop the file" drop={(dropped) => setPicked(chosen(dropped))}>
          <p className="muted">
            The rows of the file replace those of {variant}. Rows that stay keep their history, and all
            earlier versions stay.
          </p>
          <FileFields value={picked} onChange={setPicked} />
          {base && (
            <TextField
              label="Message"
              value={message}
              onChange={setMessage}
              placeholder="The server says what changed"
            />
          )}
          <UploadShown
            state={state}
            arrived={{
              to: base ? places.testsetVersion(testset.slug, variant) : places.testset(testset.slug),
              search: { view: 'versions' },
              label: `See the versions of ${variant}`,
            }}
            retry={send}
          />
        </FileDrop>
      )}
    </Modal>
  )
}

const MAX_CHANGED_ROWS_COUNTED = 1000

function Result({
  testset,
  base,
  committed,
}: {
  readonly testset: Testset
  readonly base: TestsetRevision | undefined
  readonly committed: TestsetRevision | undefined
}) {
  const { data } = useRoute(
    'POST /testsets/revisions/diff',
    {
      body: {
        base: { id: base?.id ?? '' },
        head: { id: committed?.id ?? '' },
        windowing: { limit: MAX_CHANGED_ROWS_COUNTED },
      },
    },
    { enabled: base !== undefined && committed !== undefined, immutable: true },
  )
  if (!base || !committed) return <p role="status">The rows of the file are version 1.</p>
  const diff = data?.diff
  const counts = diff && [
    `${diff.rows.changed.length.toLocaleString()} changed`,
    `${diff.rows.added.length.toLocaleString()} added`,
    `${diff.rows.removed.length.toLocaleString()} removed`,
  ]
  return (
    <div role="status">
      <p>
        <b>v{committed.version}</b> is the newest version of {committed.testset_variant_slug}
        {counts && (
          <>
            {': '}
            {data.windowing && 'of the first 1,000 changes '}
            {counts.join(', ')}
          </>
        )}
        .
      </p>
      <p>
        <Link to={places.compareTestset(testset.slug, `r:${base.slug}`, `r:${committed.slug}`)}>
          What changed
        </Link>
      </p>
    </div>
  )
}
