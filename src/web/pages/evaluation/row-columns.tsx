import { Fold } from '../../parts/text/text.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import styles from './value.module.css'

export interface RowColumnsProps {
  readonly data: Readonly<Record<string, unknown>>
  /** The column that is shown elsewhere. */
  readonly without: string | undefined
}

/** More columns than this are shown on request. */
const MOST = 40

/** The columns of a row with their values. A row may have ten thousand. */
export function RowColumns({ data, without }: RowColumnsProps) {
  const columns = Object.entries(data).filter(([name]) => name !== without)
  const rest = columns.slice(MOST)
  return (
    <>
      <dl className={styles.columns}>
        {columns.slice(0, MOST).map(([name, value]) => (
          <div key={name}>
            <dt>
              <Fold text={name} lines={2} />
            </dt>
            <dd>
              {typeof value === 'string' ? <Fold text={value} /> : <JsonView value={value} depth={1} />}
            </dd>
          </div>
        ))}
      </dl>
      {rest.length > 0 && (
        <JsonView name={`${rest.length.toLocaleString()} more`} value={Object.fromEntries(rest)} depth={0} />
      )}
    </>
  )
}
