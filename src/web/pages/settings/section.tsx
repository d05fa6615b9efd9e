import type { ReactNode } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Table, type TableProps } from '../../parts/table/table.tsx'
import styles from './settings.module.css'

interface LeadProps {
  /** What the section is for, in a sentence or two. */
  readonly children: ReactNode
  readonly action?: ReactNode
  /** Why the section is not shown, or cannot be changed. */
  readonly refusal?: string | undefined
}

/** The head of a section. */
export function Lead({ children, action, refusal }: LeadProps) {
  return (
    <div className={styles.lead}>
      <p>{children}</p>
      {action}
      {refusal !== undefined && <p className={`notice ${styles.refusal}`}>{refusal}</p>}
    </div>
  )
}

interface ListingProps<T> extends Omit<TableProps<T>, 'rows'> {
  /** What the rows are called, such as `keys`. */
  readonly things: string
  /** The loaded rows; undefined while the first ones load. */
  readonly rows: readonly T[] | undefined
  /** The query that loads the rows. */
  readonly query: {
    readonly error: Error | null
    readonly isLoading: boolean
    readonly refetch: () => unknown
  }
  /** Shown if there are no rows. */
  readonly empty: string
}

/** The table of a section, or why there is none. */
export function Listing<T>({ things, rows, query, empty, ...table }: ListingProps<T>) {
  if (query.error && !rows) return <Failure error={query.error} retry={query.refetch} />
  if (query.isLoading) return <Skeleton label={`Loading the ${things}`} />
  if (rows === undefined) return null
  if (rows.length === 0) return <Empty>{empty}</Empty>
  return (
    <>
      {query.error && <Failure error={query.error} retry={query.refetch} />}
      <Table rows={rows} {...table} />
    </>
  )
}

interface FactsProps {
  /** The name of the list for screen readers. */
  readonly label: string
  readonly facts: readonly (readonly [string, ReactNode])[]
}

/** A list of names with values. */
export function Facts({ label, facts }: FactsProps) {
  return (
    <dl className={styles.facts} aria-label={label}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A choice of `Checks`. */
export interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  /** What it means, beside the label. */
  readonly note?: string
}

interface ChecksProps<T extends string> {
  readonly legend: string
  readonly choices: readonly Choice<T>[]
  readonly value: readonly T[]
  readonly onChange: (value: readonly T[]) => void
}

/** Checkboxes. */
export function Checks<T extends string>({ legend, choices, value, onChange }: ChecksProps<T>) {
  if (choices.length === 0) return null
  return (
    <fieldset className="checks">
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="checkbox"
            checked={value.includes(choice.value)}
            onChange={({ target }) =>
              onChange(
                choices
                  .map((it) => it.value)
                  .filter((it) => (it === choice.value ? target.checked : value.includes(it))),
              )
            }
          />
          <span>
            {choice.label}
            {choice.note !== undefined && <span className="muted"> {choice.note}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

interface ShownOnceProps {
  readonly title: string
  readonly secret: string
  readonly label: string
  readonly close: () => void
}

/** A secret that the server shows only once. */
export function ShownOnce({ title, secret, label, close }: ShownOnceProps) {
  return (
    <Modal
      open
      close={close}
      title={title}
      actions={
        <Button kind="primary" onClick={close}>
          I have copied it
        </Button>
      }
    >
      <p>Copy it now. It is shown only once.</p>
      <Copyable text={secret} label={label} />
    </Modal>
  )
}
