import { memo } from 'react'
import { Output, shownText } from '../../parts/run/output.tsx'
import type { InputsSource } from '../../parts/run/use-inputs.ts'
import { isUnderWay, type RunState } from '../../parts/run/use-runs.ts'
import { Progress } from '../../parts/states/states.tsx'
import { excerptOf } from '../../parts/text/text.tsx'
import styles from './playground.module.css'

/** The key of a run: a column with a row, or with the typed inputs. */
export function runKey(column: string, source: string): string {
  return `${column} ${source}`
}

export interface RunGridProps {
  readonly rows: readonly InputsSource[]
  /** The number of the first row. */
  readonly from: number
  readonly columns: readonly { readonly key: string; readonly title: string }[]
  readonly states: ReadonlyMap<string, RunState>
  /** Whether differences from the first column are marked. */
  readonly marks: boolean
}

/** The outputs for rows of a testset: rows down, columns across. */
export function RunGrid({ rows, from, columns, states, marks }: RunGridProps) {
  const runs = rows.flatMap((row) => columns.map((column) => states.get(runKey(column.key, row.key))))
  const begun = runs.filter((state) => state !== undefined)
  const over = begun.filter((state) => !isUnderWay(state))
  const failed = over.filter(({ status }) => status === 'failed').length
  return (
    <section aria-label="Outputs by row" className={styles.outputs}>
      {begun.length > 0 && (
        <div role="status">
          {over.length < begun.length ? (
            <Progress label="Calls" done={over.length} total={begun.length} />
          ) : (
            <p className={styles.note}>
              {over.length.toLocaleString()} calls ended
              {failed > 0 && `, ${failed.toLocaleString()} with an error`}.
            </p>
          )}
        </div>
      )}
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Table of outputs">
        <table style={{ minWidth: 180 + 220 * columns.length }}>
          <thead>
            <tr>
              <th scope="col">Row</th>
              {columns.map(({ key, title }) => (
                <th key={key} scope="col" dir="auto">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={row.key}>
                <th scope="row" dir="auto">
                  <b>{(from + at).toLocaleString()}</b> {excerptOf(JSON.parse(row.inputs))}
                </th>
                {columns.map((column, index) => (
                  <Cell
                    key={column.key}
                    state={states.get(runKey(column.key, row.key))}
                    beside={
                      marks && index > 0
                        ? states.get(runKey(columns[0]?.key ?? '', row.key))?.outputs
                        : undefined
                    }
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface CellProps {
  readonly state: RunState | undefined
  /** The output of the first column, as JSON text. */
  readonly beside: string | undefined
}

/** A cell is drawn again only if its own run changes. */
const Cell = memo(function Cell({ state, beside }: CellProps) {
  return (
    <td>
      {state && (
        <Output state={state} beside={beside === undefined ? undefined : shownText(beside)} isSmall />
      )}
    </td>
  )
})
