import { parseCommit } from '../git/objects/object.ts'
import { TimeSlice, yieldToEventLoop } from '../scheduling/cooperative.ts'
import type { Json } from '../json/json.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import { readBytes } from '../versioning/family/tree-files.ts'
import { changeNotes } from '../versioning/notes/note-tree.ts'
import type { Registry } from '../versioning/registry.ts'
import type { RevisionLocation } from '../versioning/revisions/revision.ts'
import { writeCommit } from '../versioning/revisions/stored-revision.ts'
import type { WriteContext } from '../versioning/write-context.ts'
import type { LoggedRow } from './evaluation-log.ts'
import type { EvaluationPlan, EvaluationSummary, RowResult } from './evaluation.ts'

/** Where result sets are: `git log --notes=evaluations` shows them beside the revisions. */
export const NOTES_REF = 'refs/notes/evaluations'

/**
 * Writes the result set of an evaluation as a git note on the application's revision: JSON Lines, the summary of the evaluation and then
 * a line a row, behind those of other evaluations of the same revision. Writing it again replaces it. Rows that would make the note
 * longer than whoever clones should have to take (evaluators answer what they like) are left out; the summary always is there.
 */
export async function writeEvaluationNote(
  registry: Registry,
  { artifact, oid }: RevisionLocation,
  { plan, summary, finishedAt, results }: ResultSet,
  context: WriteContext,
): Promise<void> {
  const head = bytesOf(headLine(plan, summary, finishedAt))
  const rows = await rowLines(plan.id, results)
  await artifact.repository.transact(async (transaction) => {
    const parent = transaction.ref(NOTES_REF)
    const root = parent && parseCommit(await readBytes(transaction, parent, 'commit')).tree
    const commit = {
      tree: await changeNotes(transaction, root, [oid], async (note) => {
        const before = note === undefined ? Buffer.alloc(0) : await readBytes(transaction, note, 'blob')
        const others = await withoutEvaluation(withFinalLineFeed(before), plan.id)
        // What was read, what is joined and what is hashed may be long, each by itself.
        await yieldToEventLoop()
        const fits = others.length + rows.length <= MOST_NOTE
        const joined = Buffer.concat(fits ? [others, head, rows] : [others, head])
        await yieldToEventLoop()
        return transaction.write('blob', joined)
      }),
      parents: parent === undefined ? [] : [parent],
      message: subjectOf(plan),
    }
    transaction.move(NOTES_REF, writeCommit(registry, transaction, commit, context).oid)
  })
}

/** A finished evaluation. */
export interface ResultSet {
  readonly plan: EvaluationPlan
  readonly summary: EvaluationSummary
  readonly finishedAt: string
  readonly results: AsyncIterable<LoggedRow> | Iterable<LoggedRow>
}

function subjectOf({ application, testset, rows }: EvaluationPlan): string {
  return `Evaluate ${application.revision_slug} with ${testset.revision_slug} (${rows} rows)`
}

function headLine(plan: EvaluationPlan, summary: EvaluationSummary, finishedAt: string): string {
  const { id, created_at, created_by, testset, application, evaluators, outputs_from: source } = plan
  const head = {
    evaluation: {
      id,
      created_at,
      finished_at: finishedAt,
      created_by,
      testset,
      application,
      evaluators,
      ...(source === undefined ? {} : { outputs_from: source }),
      summary,
    },
  }
  return stringifyJson(head as unknown as Json) // of plain members
}

/** Scores and verdicts; the outputs are in the run's own log and its traces. */
function rowLine(evaluation: string, { testcase_id, trace_id, application, evaluators }: RowResult): string {
  const line = {
    evaluation,
    testcase_id,
    trace_id,
    ...('error' in application ? { error: application.error } : {}),
    evaluators,
  }
  return stringifyJson(line as unknown as Json) // as above
}

/** The lines of the rows of an evaluation; none of them if they are too long together. */
async function rowLines(evaluation: string, results: ResultSet['results']): Promise<Buffer> {
  const lines: Buffer[] = []
  let length = 0
  const slice = new TimeSlice()
  for await (const row of results) {
    await slice.pause()
    const line = bytesOf(rowLine(evaluation, row.read()))
    length += line.length
    if (length > MOST_ROWS) return Buffer.alloc(0)
    lines.push(line)
  }
  return Buffer.concat(lines)
}

/** Bytes of the rows of one evaluation in a note, and of a note with all evaluations of a revision that have rows in it. */
const MOST_ROWS = 32 * 1024 ** 2
const MOST_NOTE = 128 * 1024 ** 2

function bytesOf(line: string): Buffer {
  return Buffer.from(`${line}\n`)
}

/** The lines of a note that are not of this evaluation. */
async function withoutEvaluation(note: Buffer, id: string): Promise<Buffer> {
  const marks = [`{"evaluation":{"id":"${id}"`, `{"evaluation":"${id}"`].map((mark) => Buffer.from(mark))
  // Most often it is not among them, and nothing has to be taken apart.
  if (!marks.some((mark) => note.includes(mark))) return note
  const slice = new TimeSlice()
  const others: Buffer[] = []
  for (let start = 0; start < note.length;) {
    const end = note.indexOf(LINE_FEED, start) + 1
    const line = note.subarray(start, end)
    const isOfIt = marks.some((mark) => line.subarray(0, mark.length).equals(mark))
    if (line.length > 1 && !isOfIt) others.push(line)
    start = end
    await slice.pause()
  }
  return Buffer.concat(others)
}

/** A note that somebody wrote with git may end without one. */
function withFinalLineFeed(note: Buffer): Buffer {
  return note.length === 0 || note.at(-1) === LINE_FEED ? note : Buffer.concat([note, Buffer.from('\n')])
}

const LINE_FEED = 0x0a
