import { Link } from '@tanstack/react-router'
import { type DragEvent, type ReactNode, useState } from 'react'
import { type RowFileType, rowFileType, ROW_MEDIA_TYPES } from '../../../registry/testsets/files/file-type.ts'
import { Problem, Unreachable } from '../../api/call.ts'
import type { UploadRoute, UploadState } from '../../api/upload.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { ChoiceField, TextField } from '../fields/fields.tsx'
import { Failure, Progress } from '../states/states.tsx'
import styles from './upload.module.css'
import { bytes } from '../text/text.tsx'

interface FileDropProps {
  /** The text shown while a file is dragged over it. */
  readonly label: string
  readonly drop: (file: File) => void
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** An area that accepts a dropped file. */
export function FileDrop({ label, drop, className, children }: FileDropProps) {
  const [isOver, setOver] = useState(false)
  const lacking = useRefusal('write')
  const hasFile = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files')
  return (
    <div
      className={`${styles.place} ${className ?? ''}`}
      onDragOver={(event) => {
        if (!hasFile(event)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = lacking === undefined ? 'copy' : 'none'
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => {
        if (!hasFile(event)) return
        // Otherwise the browser would open the file in place of the page.
        event.preventDefault()
        setOver(false)
        const [file] = event.dataTransfer.files
        if (file && lacking === undefined) drop(file)
      }}
    >
      {children}
      {isOver && <div className={styles.over}>{lacking ?? label}</div>}
    </div>
  )
}

/** A file to upload, and how to read it. */
interface ChosenFile {
  readonly file: File
  readonly type: RowFileType
  /** Whether cells are read as the values they look like. */
  readonly infer: boolean
  /** The delimiter of a CSV file; empty to detect it. */
  readonly delimiter: string
  /** The sheet of an .xlsx file; empty for the first. */
  readonly sheet: string
  /** Whether an empty file is intended. */
  readonly allowEmpty: boolean
}

/** A file with the type that its name suggests. */
export function chosen(file: File): ChosenFile {
  const type = rowFileType({ name: file.name, mediaType: file.type }) ?? 'csv'
  return { file, type, infer: false, delimiter: '', sheet: '', allowEmpty: false }
}

/** The form fields of a chosen file. */
export function fieldsOf({ type, ...it }: ChosenFile): Readonly<Record<string, string>> {
  return {
    file_type: type,
    types: isTable(type) && it.infer ? 'infer' : '',
    delimiter: type === 'csv' ? it.delimiter : '',
    sheet: type === 'xlsx' ? it.sheet : '',
    allow_empty: it.allowEmpty ? 'true' : '',
    include_testcases: 'false',
    include_testcase_ids: 'false',
  }
}

function isTable(type: RowFileType): boolean {
  return type === 'csv' || type === 'xlsx'
}

interface FileFieldsProps {
  readonly value: ChosenFile | undefined
  readonly onChange: (value: ChosenFile) => void
}

/** Chooses a file, and how it is read. */
export function FileFields({ value, onChange }: FileFieldsProps) {
  return (
    <>
      <div className={`between ${styles.file}`}>
        <span>
          {value ? (
            <>
              <b>{value.file.name}</b> <span className="muted">{bytes(value.file.size)}</span>
            </>
          ) : (
            <span className="muted">Drop a CSV, JSON, JSONL or Excel file here, or choose one.</span>
          )}
        </span>
        <Button onClick={() => void chooseFile().then((file) => file && onChange(chosen(file)))}>
          {value ? 'Choose another' : 'Choose a file'}
        </Button>
      </div>
      {value && (
        <div className={styles.choices}>
          <ChoiceField
            label="The file is"
            value={value.type}
            onChange={(type) => onChange({ ...value, type: type as RowFileType })}
            choices={[
              { value: 'csv', label: 'CSV: a line of names, then a row a record' },
              { value: 'json', label: 'JSON: an array of objects' },
              { value: 'jsonl', label: 'JSONL: an object a line' },
              { value: 'xlsx', label: 'Excel: a sheet of an .xlsx file' },
            ]}
          />
          {value.type === 'csv' && (
            <ChoiceField
              label="Cells are separated by"
              value={value.delimiter}
              onChange={(delimiter) => onChange({ ...value, delimiter })}
              choices={[
                { value: '', label: 'what the file shows' },
                { value: ',', label: 'commas' },
                { value: ';', label: 'semicolons' },
                { value: '\t', label: 'tabs' },
                { value: '|', label: 'bars' },
              ]}
            />
          )}
          {value.type === 'xlsx' && (
            <TextField
              label="Sheet"
              value={value.sheet}
              onChange={(sheet) => onChange({ ...value, sheet })}
              placeholder="The first"
            />
          )}
          {isTable(value.type) && (
            <ChoiceField
              label="Cells are"
              value={value.infer ? 'infer' : 'string'}
              onChange={(how) => onChange({ ...value, infer: how === 'infer' })}
              choices={[
                { value: 'string', label: 'texts, exactly as they stand' },
                { value: 'infer', label: 'what they look like: 12, true, {"a": 1}' },
              ]}
            />
          )}
          <ChoiceField
            label="A file without rows is"
            value={value.allowEmpty ? 'meant' : 'refused'}
            onChange={(how) => onChange({ ...value, allowEmpty: how === 'meant' })}
            choices={[
              { value: 'refused', label: 'refused, as a mistake' },
              { value: 'meant', label: 'meant: a testset without rows' },
            ]}
          />
        </div>
      )}
    </>
  )
}

/** The accepted file names. */
const ROW_FILES = ['.csv', '.tsv', '.json', '.jsonl', '.ndjson', '.xlsx', '.gz', ...ROW_MEDIA_TYPES].join()

/** Opens the file dialog; undefined if it was cancelled. */
export function chooseFile(): Promise<File | undefined> {
  return new Promise((resolve) => {
    const input = document.createElement('input')
    input.type = 'file'
    input.accept = ROW_FILES
    input.onchange = () => resolve(input.files?.[0])
    input.oncancel = () => resolve(undefined)
    input.click()
  })
}

interface UploadShownProps {
  readonly state: UploadState<UploadRoute>
  /** A link that shows whether an upload arrived, if its answer was lost. */
  readonly arrived: {
    readonly to: string
    readonly search?: Readonly<Record<string, string>>
    readonly label: string
  }
  readonly retry: () => void
}

/** The progress of an upload, or why it was refused, with lines and columns. */
export function UploadShown({ state, arrived, retry }: UploadShownProps) {
  if (state.at === 'sending') {
    const { sent, total } = state
    const isSent = sent >= total
    return (
      <div className={styles.progress} role="status">
        {isSent ? (
          <Progress label="Sent; the server is reading the rows" done={0} unit={`of ${bytes(total)}`} />
        ) : (
          <Progress
            label="Sending"
            done={Math.round(sent / 1000)}
            total={Math.round(total / 1000)}
            unit="KB"
          />
        )}
      </div>
    )
  }
  if (state.at !== 'failed') return null
  const { error, isSent } = state
  if (error instanceof Unreachable && isSent)
    return (
      <div role="alert" className={styles.lost}>
        <p>
          The whole file was sent, but the server’s answer did not come back: whether it is stored is not
          known. Trying again is safe, since the server stores the same upload once.{' '}
          <Link to={arrived.to} search={arrived.search ?? {}} target="_blank" title="In another tab">
            {arrived.label}
          </Link>
        </p>
        <Button onClick={retry}>Try again</Button>
      </div>
    )
  // The same file would be refused again.
  const isFinal = error instanceof Problem && error.status < 500 && error.status !== 429
  return (
    <>
      <Failure error={error} {...(isFinal ? {} : { retry })} />
      {error instanceof Problem && error.errors.length > 1 && (
        <ul className={styles.errors}>
          {error.errors.slice(0, 50).map(({ loc, msg }, at) => (
            <li key={at}>
              <code dir="auto">{loc.join('.')}</code> {msg}
            </li>
          ))}
        </ul>
      )}
      <p className="muted">The file was not stored.</p>
    </>
  )
}

interface FileNotesProps {
  readonly collapsed?: number | undefined
  readonly replaced?: number | undefined
  readonly renamed_columns?: readonly { readonly from: string; readonly to: string }[] | undefined
}

/** Changes that are not visible in the rows: merged rows, and renamed columns. */
export function FileNotes({ collapsed = 0, replaced = 0, renamed_columns: renamed = [] }: FileNotesProps) {
  if (collapsed + replaced + renamed.length === 0) return null
  return (
    <div role="status">
      <ul>
        {collapsed > 0 && <li>{collapsed.toLocaleString()} equal rows collapsed into one each</li>}
        {replaced > 0 && (
          <li>{replaced.toLocaleString()} rows were replaced by a later row with the same ID</li>
        )}
        {renamed.map(({ from, to }) => (
          <li key={to}>
            Column <code dir="auto">{JSON.stringify(from)}</code> is called <code dir="auto">{to}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}
