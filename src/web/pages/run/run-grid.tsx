import { memo, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Output, shownText } from '../../parts/run/output.tsx'
import { KeepRow, type KeptRun } from '../../parts/run/recent-runs.tsx'
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
  /** The inputs that the columns take. */
  readonly names: readonly string[]
  readonly testset: string | undefined
}

/** The outputs for rows of a testset: rows down, columns across. */
export function RunGrid({ rows, from, columns, states, marks, names, testset }: RunGridProps) {
  const [kept, setKept] = useState<Omit<KeptRun, 'names'>>()
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
      <KeepRow run={kept && { ...kept, names }} testset={testset} close={() => setKept(undefined)} />
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
                    inputs={row.inputs}
                    name={`row ${from + at} of ${column.title}`}
                    keep={setKept}
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
  /** As JSON text. */
  readonly inputs: string
  /** Says which cell it is. */
  readonly name: string
  readonly keep: (run: Omit<KeptRun, 'names'>) => void
  readonly state: RunState | undefined
  /** The output of the first column, as JSON text. */
  readonly beside: string | undefined
}

/** A cell is drawn again only if its own run changes. */
const Cell = memo(function Cell({ inputs, name, keep, state, beside }: CellProps) {
  const outputs = state?.outputs
  return (
    <td>
      {state && (
        <Output state={state} beside={beside === undefined ? undefined : shownText(beside)} isSmall />
      )}
      {outputs !== undefined && (
        <Button kind="quiet" onClick={() => keep({ inputs, outputs })}>
          Keep as row…<span className="visually-hidden"> {name}</span>
        </Button>
      )}
    </td>
  )
})
