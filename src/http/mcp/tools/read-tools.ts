import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { entriesOf, getPath, isJsonObject, type Json, keysOf, type PlainObject } from '../../../base/json.ts'
import { given, shortRecord } from '../short-record.ts'
import {
  atRevision,
  EVALUATION,
  fields,
  idOf,
  limit,
  listIn,
  NAMED,
  next,
  page,
  record,
  references,
  retrieve,
  type Tool,
  tool,
  VERSION_NUMBER,
} from './tool.ts'

const VERSION = ['version', 'variant_slug', 'id', 'author', 'date', 'subject']
/** A prompt's schemas and flags are long, and the same for most. */
const PROMPT = ['artifact_slug', ...VERSION, 'data.uri', 'data.parameters', 'data.script']
const KINDS = ['application', 'evaluator', 'workflow', 'testset', 'row', 'environment', 'query'] as const
const TRACE = [
  ...['trace_id', 'span_name', 'start_time', 'status_code', 'status_message'],
  ...['inputs', 'outputs'].map((it) => `attributes.svc.data.${it}`),
  'attributes.svc.metrics.duration.cumulative',
]

/** The tools that only read. */
export const readTools: readonly Tool[] = [
  tool({
    name: 'prompts_search',
    group: 'read',
    title: 'Find prompts',
    description:
      'Finds prompts (applications) by words in their names, texts and messages, the best first; without a query lists them by name. ' +
      'With `kinds` also evaluators, testsets, rows and environments.',
    input: z.strictObject({
      query: z
        .string()
        .max(10_000)
        .optional()
        .describe('Words; "…" is a phrase, pre* a prefix, -word excludes'),
      kinds: z.array(z.enum(KINDS)).min(1).default(['application']),
      limit: limit(10),
      next,
      fields,
    }),
    run: async ({ query, kinds, limit, next, fields }, rest) => {
      const windowing = given({ limit, next })
      if (query !== undefined) {
        const found = await rest.post('/search', { query, kinds, windowing })
        const usual = [
          'kind',
          'artifact.slug',
          'variant.slug',
          'revision.version',
          'field',
          'place',
          'excerpt',
        ]
        return page(found, 'hits', fields, usual)
      }
      const [kind = ''] = kinds
      if (kinds.length > 1 || kind === 'row')
        throw new Refusal('invalid_request', 'kinds: without a query, name one kind, and not row.')
      const plural = kind === 'query' ? 'queries' : `${kind}s`
      const listed = await rest.post(`/${plural}/query`, { windowing: { order: 'name', ...windowing } })
      return page(listed, plural, fields, ['slug', 'name', 'description', 'updated_at'])
    },
  }),
  tool({
    name: 'prompts_get',
    group: 'read',
    title: 'Read a prompt',
    description:
      'Reads a version of a prompt: its messages, model and settings (data.parameters), and who made it. Also reads evaluators.',
    input: z.strictObject(NAMED),
    run: async (input, rest) => shortRecord(await retrieve(rest, 'application', input), input.fields, PROMPT),
  }),
  tool({
    name: 'prompts_log',
    group: 'read',
    title: 'Versions of a prompt',
    description: 'Lists the versions of a variant, newest first: who committed which, when and why.',
    input: z.strictObject({ ...NAMED, limit: limit(10), next }),
    run: async (input, rest) => {
      const from = await atRevision(rest, 'application', input)
      const windowing = given({ limit: input.limit, next: input.next })
      const answer = await rest.post('/applications/revisions/log', { ...from, windowing })
      return page(answer, 'application_revisions', input.fields, [...VERSION, 'message'])
    },
  }),
  tool({
    name: 'prompts_diff',
    group: 'read',
    title: 'Compare two versions',
    description:
      'What changed between two versions of a prompt: text differences of its files, and what was set where (patch).',
    input: z.strictObject({
      name: NAMED.name,
      variant: NAMED.variant,
      base: VERSION_NUMBER,
      head: VERSION_NUMBER,
      fields,
    }),
    run: async ({ name, variant, base, head, fields }, rest) => {
      const [from, to] = await Promise.all(
        [base, head].map((version) => retrieve(rest, 'application', { name, variant, version })),
      )
      const body = { base: { id: idOf(from) }, head: { id: idOf(to) } }
      const diff = record(await rest.post('/applications/revisions/diff', body), 'diff')
      return shortRecord(diff, fields, ['files', 'patch'])
    },
  }),
  tool({
    name: 'prompts_blame',
    group: 'read',
    title: 'Who wrote each line',
    description:
      'For each line of a text of a prompt: which version brought it, who wrote it, when and why. Without `place` the error names the texts.',
    input: z.strictObject({
      ...NAMED,
      place: z
        .string()
        .max(10_000)
        .optional()
        .describe('A JSON Pointer into data: /parameters/prompt/messages/0/content'),
    }),
    run: async (input, rest) => {
      const id = idOf(await retrieve(rest, 'application', input))
      const query = input.place === undefined ? '' : `?place=${encodeURIComponent(input.place)}`
      const answer = await rest.get(`/applications/revisions/${id}/blame${query}`)
      return page(answer, 'lines', input.fields, [
        'line',
        'text',
        'revision.version',
        'author',
        'date',
        'subject',
      ])
    },
  }),
  tool({
    name: 'testsets_rows',
    group: 'read',
    title: 'Rows of a testset',
    description: 'Reads rows of a testset, a page at a time. `fields` are columns.',
    input: z.strictObject({ ...NAMED, limit: limit(20), next }),
    run: async (input, rest) => {
      const windowing = given({ limit: input.limit, next: input.next })
      const answer = await rest.post('/testsets/revisions/retrieve', {
        ...references('testset', input),
        windowing,
      })
      const testset = record(answer, 'testset_revision')
      const data = listIn(testset, 'data', 'testcases').map((row) => getPath(row, 'data') ?? null)
      const columns = data.flatMap((row) => (isJsonObject(row) ? keysOf(row) : []))
      return {
        ...shortRecord(testset, undefined, ['artifact_slug', 'version']),
        ...page(answer, 'rows', input.fields, [...new Set(columns)], data),
      }
    },
  }),
  tool({
    name: 'evaluations_results',
    group: 'read',
    title: 'Results of an evaluation',
    description: 'How far an evaluation is, what it came to, and the results of its rows, a page at a time.',
    input: z.strictObject({
      id: z.string().max(100).describe('The id that evaluations_run answered'),
      outcome: z.enum(['passed', 'failed', 'error']).optional().describe('Only rows that ended so'),
      limit: limit(20),
      next,
      fields,
    }),
    run: async ({ id, outcome, limit, next, fields }, rest) => {
      const path = `/evaluations/${encodeURIComponent(id)}`
      const [about, results] = await Promise.all([
        rest.get(path),
        rest.post(
          `${path}/results`,
          given({ windowing: given({ limit, next }), result: outcome && { outcome } }),
        ),
      ])
      return {
        evaluation: shortRecord(record(about, 'evaluation'), undefined, EVALUATION),
        ...page(results, 'results', fields, ['testcase_id', 'application', 'evaluators', 'trace_id']),
      }
    },
  }),
  tool({
    name: 'traces_search',
    group: 'read',
    title: 'Find runs',
    description:
      'Finds runs (traces), newest first: what went in, what came out, how long it took, what failed.',
    input: z.strictObject({
      ...NAMED,
      name: NAMED.name.optional(),
      failed: z.boolean().optional().describe('Only runs that failed, or only those that did not'),
      contains: z.string().max(1000).optional().describe('Only runs whose inputs or outputs have this text'),
      since: z.iso.datetime().optional().describe('Only runs from this time on: 2026-01-31T00:00:00Z'),
      limit: limit(10),
      next,
    }),
    run: async ({ name, failed, contains, since, limit, next, fields, ...which }, rest) => {
      const isExact = Object.values(which).some((it) => it !== undefined)
      if (isExact && name === undefined)
        throw new Refusal('invalid_request', 'name: name the prompt whose version or environment is meant.')
      const exact =
        isExact && name !== undefined ? await retrieve(rest, 'application', { name, ...which }) : undefined
      const of = exact ? given({ id: idOf(exact) }) : name === undefined ? undefined : given({ slug: name })
      const conditions = [
        condition('references', 'has', of),
        condition('content', 'contains', contains),
        condition('start_time', 'gte', since),
        condition(
          'status_code',
          failed ? 'is' : 'is_not',
          failed === undefined ? undefined : 'STATUS_CODE_ERROR',
        ),
      ].flat()
      const asked = { filtering: { conditions }, windowing: given({ limit, next }) }
      const answer = await rest.post('/traces/query', asked)
      const roots = listIn(answer, 'traces').map((trace) => {
        const spans = getPath(trace, 'spans')
        return (isJsonObject(spans) ? entriesOf(spans)[0]?.[1] : undefined) ?? trace
      })
      return page(answer, 'traces', fields, TRACE, roots)
    },
  }),
]

/** A condition of a filtering; none where there is no value. */
function condition(field: string, operator: string, value: Json | undefined): PlainObject[] {
  return value === undefined ? [] : [{ field, operator, value }]
}
