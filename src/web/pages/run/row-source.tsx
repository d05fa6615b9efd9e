import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { useRouteText, useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { stringAt, textAt } from '../../parts/json-text/json-text.ts'
import { Failure } from '../../parts/states/states.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { inputsOfRow } from './inputs.ts'
import styles from './run.module.css'

/** A row used as inputs. */
export interface PickedRow {
  readonly testcaseId: string
  /** As JSON text. */
  readonly inputs: string
}

export interface RowSourceProps {
  readonly testset: string | undefined
  /** From 1. */
  readonly row: number
  readonly pick: (testset: string | undefined, row: number) => void
  /** Called with each row once it is loaded. */
  readonly onRow: (row: PickedRow) => void
}

/** Takes inputs from a row of a testset; `[` and `]` go to the previous and next row. */
export function RowSource({ testset, row, pick, onRow }: RowSourceProps) {
  const list = useId()
  const known = useRoute('POST /testsets/query', { body: { windowing: { limit: 50, order: '-updated' } } })
  const answer = useRouteText(
    'POST /testsets/revisions/retrieve',
    {
      body: {
        testset_ref: { slug: testset ?? '' },
        windowing: { limit: 1, offset: row - 1, count_total: true },
      },
    },
    { enabled: testset !== undefined },
  )
  const total = answer.data === undefined ? undefined : Number(textAt(answer.data, ['total']) ?? 0)
  const testcase = answer.data && textAt(answer.data, ['testset_revision', 'data', 'testcases', 0])
  useEffect(() => {
    if (testcase === undefined) return
    onRow({
      testcaseId: stringAt(testcase, ['id']) ?? '',
      inputs: inputsOfRow(textAt(testcase, ['data']) ?? '{}'),
    })
  }, [testcase])

  const isFirst = testset === undefined || row <= 1
  const isLast = total === undefined || row >= total
  const step = (by: number): void => pick(testset, row + by)
  useCommands([
    {
      id: 'row before',
      title: 'Previous row',
      keys: '[',
      refusal: isFirst ? 'This is the first row.' : undefined,
      run: () => step(-1),
    },
    {
      id: 'next row',
      title: 'Next row',
      keys: ']',
      refusal: isLast ? 'This is the last row.' : undefined,
      run: () => step(1),
    },
  ])
  return (
    <div className={styles.source}>
      <SlugField
        list={list}
        value={testset ?? ''}
        onChange={(slug) => pick(slug === '' ? undefined : slug, 1)}
      />
      <datalist id={list}>
        {(known.data?.testsets ?? []).map(({ slug }) => (
          <option key={slug} value={slug} />
        ))}
      </datalist>
      {testset !== undefined && (
        <div className={styles.stepper}>
          <Button
            refusal={isFirst ? 'This is the first row.' : undefined}
            aria-label="Previous row"
            onClick={() => step(-1)}
          >
            <ChevronLeft size={16} aria-hidden />
          </Button>
          <span>
            row {row.toLocaleString()}
            {total !== undefined && ` of ${total.toLocaleString()}`}
          </span>
          <Button
            refusal={isLast ? 'This is the last row.' : undefined}
            aria-label="Next row"
            onClick={() => step(1)}
          >
            <ChevronRight size={16} aria-hidden />
          </Button>
        </div>
      )}
      {answer.error && <Failure error={answer.error} retry={answer.refetch} />}
    </div>
  )
}

interface SlugFieldProps {
  readonly list: string
  readonly value: string
  readonly onChange: (slug: string) => void
}

/** The testset is looked up once its whole name is typed. */
function SlugField({ list, value, onChange }: SlugFieldProps) {
  const [typed, setTyped] = useState<string>()
  const settle = (): void => {
    if (typed !== undefined && typed.trim() !== value) onChange(typed.trim())
    setTyped(undefined)
  }
  return (
    <TextField
      label="Row of a testset"
      list={list}
      placeholder="none (type inputs below)"
      autoComplete="off"
      spellCheck={false}
      value={typed ?? value}
      onChange={setTyped}
      onBlur={settle}
      onKeyDown={({ key }) => {
        if (key === 'Enter') settle()
      }}
    />
  )
}
