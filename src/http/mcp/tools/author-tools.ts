import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { getKey, keysOf, type PlainObject, withValues } from '../../../base/json.ts'
import { given, shortRecord } from '../short-record.ts'
import {
  atRevision,
  EVALUATION,
  fields,
  idOf,
  NAMED,
  object,
  record,
  references,
  retrieve,
  SLUG,
  type Tool,
  tool,
  written,
} from './tool.ts'

/** The tools that make versions and run them. What was there stays as it was. */
export const authorTools: readonly Tool[] = [
  tool({
    name: 'prompts_commit',
    group: 'author',
    effect: 'adds',
    title: 'Commit a version',
    description:
      'Makes the next version of a prompt, on a variant (the default one unless named). Send `set` to change values at dotted paths, ' +
      'or `data` to replace everything. Older versions stay, and no environment changes.',
    input: z.strictObject({
      name: NAMED.name,
      variant: NAMED.variant,
      message: z.string().min(1).max(10_000).describe('Why this version is made, as in a commit message'),
      set: object
        .optional()
        .describe(
          'Values at dotted paths of data; a number is a place in a list: {"parameters.prompt.messages.0.content": "…"}',
        ),
      data: object.optional().describe('All of data: uri and parameters'),
      fields,
    }),
    run: async ({ name, variant, message, set, data, fields }, rest) => {
      if ((set === undefined) === (data === undefined))
        throw new Refusal('invalid_request', 'set, data: send one of them, and not both.')
      const base = set && (await retrieve(rest, 'application', { name, variant }))
      const stored = base && getKey(base, 'data')
      const values = keysOf(set ?? {}).map((path) => ({ path, value: getKey(set ?? {}, path) ?? null }))
      const whole = set ? withValues(stored ?? {}, values, 'set') : data
      const commit = given({
        ...references('application', { name, variant }),
        message,
        data: whole,
        base_revision_id: base && idOf(base),
      })
      const answer = await rest.post('/applications/revisions/commit', {
        application_revision_commit: commit,
      })
      return written(answer, 'application_revision', fields)
    },
  }),
  tool({
    name: 'prompts_fork',
    group: 'author',
    effect: 'adds',
    title: 'Fork a variant',
    description:
      'Makes a variant (a branch) of a prompt that begins at a version, to try something without changing the others.',
    input: z.strictObject({ ...NAMED, new_variant: SLUG.describe('The slug of the variant that is made') }),
    run: async (input, rest) => {
      const from = await atRevision(rest, 'application', input)
      const body = { application_variant: { slug: input.new_variant }, ...from }
      const answer = await rest.post('/applications/variants/fork', body)
      return written(answer, 'application_variant', input.fields, ['slug', 'artifact_slug', 'id'])
    },
  }),
  tool({
    name: 'prompts_run',
    group: 'author',
    effect: 'runs',
    title: 'Run a prompt',
    description:
      'Runs a version of a prompt with inputs, which may call a model and cost money. Answers outputs and the trace.',
    input: z.strictObject({
      ...NAMED,
      inputs: object.describe('The variables of the prompt: {"question": "…"}'),
    }),
    run: async (input, rest) => {
      const asked = Object.entries(references('application', input))
      const named = Object.fromEntries(asked.map(([key, reference]) => [key.replace(/_ref$/, ''), reference]))
      const answer = await rest.post('/services/invoke', {
        references: named,
        data: { inputs: input.inputs },
      })
      return shortRecord(answer, input.fields, ['data.outputs', 'trace_id'])
    },
  }),
  tool({
    name: 'testsets_add_rows',
    group: 'author',
    effect: 'adds',
    title: 'Add rows to a testset',
    description: 'Makes the next version of a testset, with these rows behind those that it has.',
    input: z.strictObject({
      name: NAMED.name,
      variant: NAMED.variant,
      rows: z.array(object).min(1).max(10_000).describe('Each row with its columns: [{"country": "Peru"}]'),
      message: z.string().max(10_000).default('Rows added by an agent'),
      fields,
    }),
    run: async ({ name, variant, rows, message, fields }, rest) => {
      const delta = { rows: { add: rows.map((data) => ({ data })) } }
      const commit = { ...references('testset', { name, variant }), message, delta }
      const answer = await rest.post('/testsets/revisions/commit', { testset_revision_commit: commit })
      return written(answer, 'testset_revision', fields)
    },
  }),
  tool({
    name: 'evaluations_run',
    group: 'author',
    effect: 'runs',
    title: 'Start an evaluation',
    description:
      'Starts running every row of a testset through a prompt, and the outputs through evaluators. Answers at once: ' +
      'ask evaluations_results for the id until its state is finished. May call models and cost money.',
    input: z.strictObject({
      testset: SLUG.describe('A slug, or slug@version'),
      application: SLUG.describe('The prompt: a slug, or slug@version'),
      evaluators: z.array(SLUG).min(1).max(50).describe('Slugs, or slug@version'),
    }),
    run: async ({ testset, application, evaluators }, rest) => {
      const judges = evaluators.map(slugAtVersion)
      const body = {
        ...refOf('testset', testset),
        ...refOf('application', application),
        evaluator_refs: judges.filter((it) => it.version === undefined).map((it) => given({ ...it })),
        evaluator_revision_refs: judges
          .filter((it) => it.version !== undefined)
          .map((it) => given({ ...it })),
        wait: false,
      }
      return shortRecord(
        record(await rest.post('/evaluations/run', body), 'evaluation'),
        undefined,
        EVALUATION,
      )
    },
  }),
]

function slugAtVersion(text: string): { readonly slug: string; readonly version?: number } {
  const [, slug = text, version] = /^(.+)@([0-9]{1,9})$/.exec(text) ?? []
  return version === undefined ? { slug } : { slug, version: Number(version) }
}

function refOf(word: string, text: string): PlainObject {
  const reference = slugAtVersion(text)
  return { [`${word}${reference.version === undefined ? '' : '_revision'}_ref`]: given({ ...reference }) }
}
