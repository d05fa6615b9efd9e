import { useState } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { ChoiceField, LongTextField } from '../../parts/fields/fields.tsx'
import { Failure } from '../../parts/states/states.tsx'
import { excerptOf } from '../../parts/text/text.tsx'
import { Values } from '../../parts/values/values.tsx'
import type { RunValues } from '../../parts/waterfall/spans.ts'
import styles from './trace.module.css'

interface AddToTestsetProps {
  /** What ran, for the message of the new version. */
  readonly name: string
  readonly values: RunValues
  /** Called with the testset and its new version. */
  readonly added: (testset: string, version: number) => void
  readonly close: () => void
}

/** What evaluators compare with, unless they name another column. */
const USUAL = 'correct_answer'
const EXPECTED = /expected|correct|answer|reference|output/i
/** The part of a trace that is no input. */
const OUTPUT = 'output'

/** Keeps a trace as a row: shows which value goes to which column, and the row as it will be, before it is saved. */
export function AddToTestset({ name, values, added, close }: AddToTestsetProps) {
  const [testset, setTestset] = useState('')
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const [typed, setTyped] = useState(typeof values.output === 'string' ? values.output : undefined)
  const { mutateAsync } = useWrite('POST /testsets/revisions/commit')
  const { columns, testsetId, error } = useColumns(testset)
  const inputs = Object.entries(values.inputs).filter(([name]) => !OWN.has(name))
  const columnOf = (part: string): string =>
    chosen.get(part) ?? (part === OUTPUT ? expectedIn(columns, inputs) : part)
  const output = typed ?? values.output
  const parts = [
    ...inputs.map(([name, value]) => [name, name, value] as const),
    [OUTPUT, OUTPUT, output] as const,
  ]
  const kept = parts
    .map(([part, , value]) => [columnOf(part), value] as const)
    .filter(([column, value]) => column !== '' && value !== undefined)
  const twice = kept.find(([column], at) => kept.findIndex(([other]) => other === column) !== at)?.[0]
  const row = Object.fromEntries(kept)
  const empty = columns.filter((column) => !Object.hasOwn(row, column))
  async function save(): Promise<void> {
    const { testset_revision: made } = await mutateAsync({
      body: {
        testset_revision_commit: {
          testset_id: testsetId ?? '',
          message: `Keep a trace of ${name} as a row`,
          delta: { rows: { add: [{ data: row }] } },
        },
      } as never,
    })
    added(testset, Number(made.version))
  }
  return (
    <FormDialog
      title="Add to a testset"
      action="Save version"
      needs="write"
      refusal={
        testset === ''
          ? 'Choose a testset first.'
          : twice !== undefined
            ? `Two values go to the column “${twice}”.`
            : kept.length === 0
              ? 'Every value is left out.'
              : undefined
      }
      submit={save}
      close={close}
    >
      <div className={styles.fields}>
        <ArtifactPicker
          label="Testset"
          family="testset"
          value={testset}
          placeholder="Search by name"
          autoFocus
          onChange={(slug) => {
            setTestset(slug)
            setChosen(new Map())
          }}
        />
        {error && <Failure error={error} />}
        {typed !== undefined && (
          <LongTextField
            label="Expected answer"
            hint="The output of the trace. Correct it here if it is wrong."
            rows={3}
            value={typed}
            onChange={setTyped}
          />
        )}
        <fieldset className={styles.mapping}>
          <legend>Which column each value goes to</legend>
          {parts.map(([part, own, value]) => (
            <div key={part}>
              <ChoiceField
                label={part === OUTPUT ? 'Output' : part}
                value={columnOf(part)}
                choices={[
                  ...columns.map((column) => ({ value: column, label: column })),
                  ...newColumns(columns, part === OUTPUT ? USUAL : own).map((column) => ({
                    value: column,
                    label: `${column} (new column)`,
                  })),
                  { value: '', label: 'Leave out' },
                ]}
                onChange={(column) => setChosen(new Map([...chosen, [part, column]]))}
              />
              <p className={`clip muted ${styles.excerpt}`} dir="auto">
                {excerptOf(value)}
              </p>
            </div>
          ))}
        </fieldset>
        {testset !== '' && (
          <section aria-label="The row as it will be">
            <h3>The new row of {testset}</h3>
            <Values data={row} />
            {empty.length > 0 && <p className="muted">Empty: {empty.join(', ')}</p>}
          </section>
        )}
      </div>
    </FormDialog>
  )
}

/** The testset's own columns. */
const OWN: ReadonlySet<string> = new Set(['testcase_dedup_id', '__dedup_id__', '__id__'])

function newColumns(columns: readonly string[], name: string): readonly string[] {
  return columns.includes(name) ? [] : [name]
}

/** The column with expected answers: one that no input has, by its name. */
function expectedIn(columns: readonly string[], inputs: readonly (readonly [string, unknown])[]): string {
  const others = columns.filter((column) => !inputs.some(([name]) => name === column))
  return others.find((column) => column === USUAL) ?? others.find((column) => EXPECTED.test(column)) ?? USUAL
}

/** The columns of a testset, as its first rows have them. */
function useColumns(slug: string) {
  const enabled = slug !== ''
  const testset = useRoute('GET /testsets/{id}', { path: { id: slug } }, { enabled })
  // A testset without a version has no columns yet.
  const first = useRoute(
    'POST /testsets/revisions/retrieve',
    { body: { testset_ref: { slug }, windowing: { limit: ROWS_READ } } },
    { enabled },
  )
  const rows = (first.data?.testset_revision.data?.['testcases'] ?? []) as readonly {
    readonly data?: object
  }[]
  const columns = new Set(rows.flatMap(({ data }) => Object.keys(data ?? {})))
  return {
    columns: [...columns].filter((name) => !OWN.has(name)),
    testsetId: testset.data?.testset.id,
    error: testset.error,
  }
}

const ROWS_READ = 8
