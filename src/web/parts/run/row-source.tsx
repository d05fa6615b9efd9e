import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { ArtifactPicker } from '../artifact-picker/artifact-picker.tsx'
import { Button } from '../button/button.tsx'
import { Combobox } from '../combobox/combobox.tsx'
import { itemsAt, stringAt, textAt } from '../json-text/json-text.ts'
import { Failure } from '../states/states.tsx'
import { excerptOf } from '../text/text.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { inputsOfRow } from './inputs.ts'
import styles from './run.module.css'
import type { InputsSource } from './use-inputs.ts'

/** The rows of a testset from a place on. */
export interface RowsState {
  readonly rows: readonly InputsSource[]
  /** How many the testset has; undefined until it is known. */
  readonly total: number | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** Reads up to `limit` rows from the row `from` (from 1) on; none without a testset. */
export function useRows(testset: string | undefined, from: number, limit: number): RowsState {
  const answer = useRouteText(
    'POST /testsets/revisions/retrieve',
    {
      body: {
        testset_ref: { slug: testset ?? '' },
        windowing: { limit, offset: from - 1, count_total: true },
      },
    },
    { enabled: testset !== undefined },
  )
  const { data, error, refetch } = answer
  const rows = useMemo(
    () =>
      data === undefined
        ? []
        : itemsAt(data, ['testset_revision', 'data', 'testcases']).map((testcase) => {
            const id = stringAt(testcase, ['id']) ?? ''
            return { key: id, testcaseId: id, inputs: inputsOfRow(textAt(testcase, ['data']) ?? '{}') }
          }),
    [data],
  )
  return {
    rows,
    total: data === undefined ? undefined : Number(textAt(data, ['total']) ?? 0),
    error,
    refetch,
  }
}

export interface RowSourceProps {
  readonly testset: string | undefined
  /** From 1. */
  readonly row: number
  /** How many rows the testset has. */
  readonly total: number | undefined
  /** How many rows are used at once. */
  readonly rowsAtOnce?: number
  readonly pick: (testset: string | undefined, row: number) => void
  readonly error: Error | null
  readonly retry: () => unknown
}

/** Takes inputs from a row of a testset; `[` and `]` go to the previous and next row. */
export function RowSource({ testset, row, total, rowsAtOnce = 1, pick, error, retry }: RowSourceProps) {
  const isFirst = row <= 1 ? 'This is the first row.' : undefined
  const isLast = total === undefined || row + rowsAtOnce > total ? 'This is the last row.' : undefined
  const none = testset === undefined ? 'Choose a testset first.' : undefined
  const step = (by: number): void => pick(testset, Math.max(1, row + by * rowsAtOnce))
  const last = Math.min(row + rowsAtOnce - 1, total ?? row)
  useCommands([
    { id: 'row before', title: 'Previous row', keys: '[', refusal: none ?? isFirst, run: () => step(-1) },
    { id: 'next row', title: 'Next row', keys: ']', refusal: none ?? isLast, run: () => step(1) },
  ])
  return (
    <div className={styles.source}>
      <ArtifactPicker
        label="Use a testset row (optional)"
        family="testset"
        placeholder="Choose a testset"
        value={testset ?? ''}
        onChange={(slug) => pick(slug === '' ? undefined : slug, 1)}
      />
      {testset !== undefined && (
        <>
          <RowFinder testset={testset} row={row} pick={(found) => pick(testset, found)} />
          <div className="row">
            <Button refusal={isFirst} aria-label="Previous row" onClick={() => step(-1)}>
              <ChevronLeft size={16} aria-hidden />
            </Button>
            <span role="status">
              {last > row
                ? `rows ${row.toLocaleString()} to ${last.toLocaleString()}`
                : `row ${row.toLocaleString()}`}
              {total !== undefined && ` of ${total.toLocaleString()}`}
            </span>
            <Button refusal={isLast} aria-label="Next row" onClick={() => step(1)}>
              <ChevronRight size={16} aria-hidden />
            </Button>
          </div>
        </>
      )}
      {error && <Failure error={error} retry={retry} />}
    </div>
  )
}

/** The finder searches this many rows, from the first one on, for words. It finds every row by its number. */
const ROWS_SEARCHED = 500
const MOST_FOUND = 50

interface RowFinderProps {
  readonly testset: string
  readonly row: number
  readonly pick: (row: number) => void
}

/** Finds a row by its number or by words in it. */
function RowFinder({ testset, row, pick }: RowFinderProps) {
  const [words, setWords] = useState<string>()
  const { rows, total, error } = useRows(words === undefined ? undefined : testset, 1, ROWS_SEARCHED)
  const sought = (words ?? '').trim().toLowerCase().split(/\s+/)
  const number = Number(sought.join(' '))
  const isNumber = words?.trim() !== '' && Number.isInteger(number) && number >= 1 && number <= (total ?? 0)
  const found = rows
    .map(({ inputs }, at) => ({ at, inputs, text: inputs.toLowerCase() }))
    .filter(({ text }) => sought.every((word) => text.includes(word)))
    .filter(({ at }) => !isNumber || at + 1 !== number)
    .slice(0, MOST_FOUND)
    .map(({ at, inputs }) => ({
      value: String(at + 1),
      label: excerptOf(JSON.parse(inputs)),
      note: `row ${at + 1}`,
    }))
  const within = total !== undefined && total > ROWS_SEARCHED ? ` among the first ${ROWS_SEARCHED} rows` : ''
  return (
    <Combobox
      label="Row"
      shown={String(row)}
      found={[
        ...(isNumber ? [{ value: String(number), label: `Row ${number.toLocaleString()}` }] : []),
        ...found,
      ]}
      none={error ? error.message : total === undefined ? 'Searching …' : `Nothing found${within}.`}
      hint={within === '' ? undefined : `Searches${within}; any row by its number.`}
      onWords={setWords}
      choose={(value) => pick(Number(value))}
    />
  )
}
