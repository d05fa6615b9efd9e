import { z } from 'zod'
import { entriesOf, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { declare } from '../routing/known-fields.ts'
import { anyJson, jsonObject, reference, slug, uuid, version } from '../schemas/request-schemas.ts'

import { UNUSED_HEADER, unusedOfRevisions } from '../schemas/unused-fields.ts'

/** The kinds of objects that a trace may refer to (interface 12.8). */
const KINDS = [
  'testcase',
  'testset',
  'query',
  'workflow',
  'application',
  'evaluator',
  'environment',
  'snippet',
]
const REFERENCE_NAME = new RegExp(`^(?:${KINDS.join('|')})(?:_variant|_revision)?(?:_ref)?$`)

/** References by name, such as `application_revision`, with or without `_ref` at the end. */
const references = mapOf(
  reference,
  'What runs, and what else the trace is to name: a reference under application, evaluator or workflow, or one of these with _variant or _revision; or environment',
  (name) =>
    REFERENCE_NAME.test(name)
      ? undefined
      : `${JSON.stringify(name)} is no name of a reference; use ${KINDS.join(', ')}, or one of these with _variant or _revision`,
).transform((read) => new Map([...read].map(([name, it]) => [name.replace(/_ref$/, ''), it])))

/** Spans of other traces, by name (interface 12.9). */
const links = mapOf(
  z
    .object({ trace_id: hex(32), span_id: hex(16) })
    .transform((it) => ({ traceId: it.trace_id, spanId: it.span_id })),
  'Spans that this run is about, each {trace_id, span_id} under a name; invocation is the run that an evaluator judges',
)

const selector = declare(z.object({ key: z.string().optional() }), { unused: ['path'] })

/** Names of a revision's parents, which differ by surface. */
const UNUSED_OF_REVISIONS = [
  ...unusedOfRevisions({ singulars: ['workflow', 'application', 'evaluator'] }),
  ...UNUSED_HEADER,
]

/** A workflow in the request. */
const inlineRevision = z.preprocess(
  (value) => (isJsonObject(value as Json) ? withoutNulls(value as JsonObject) : value), // a part of a parsed body
  declare(
    z.object({
      data: jsonObject.default({}),
      id: uuid.optional(),
      slug: slug.optional(),
      version: version.optional(),
    }),
    { unused: UNUSED_OF_REVISIONS },
  ),
)

/** The body of an invocation (interface 12.2). Some members that clients send have no effect here. */
export const invokeInput = declare(
  z.object({
    session_id: z.string().optional(),
    flags: jsonObject.optional(),
    references: references.optional(),
    links: links.optional(),
    selector: selector.optional(),
    data: declare(
      z.object({
        inputs: jsonObject.optional(),
        parameters: jsonObject.optional(),
        outputs: anyJson.optional(),
        trace: jsonObject.optional(),
        testcase: jsonObject.optional(),
        revision: inlineRevision.optional(),
      }),
      { unused: ['messages'], misplaced: { links: 'links belong beside data, at the top of the body' } },
    ).optional(),
  }),
  { unused: ['version', 'secrets', 'credentials', 'tags', 'meta'] },
)

export type InvokeInput = z.infer<typeof invokeInput>

const DATA_OF_INVOCATIONS = ['inputs', 'parameters', 'outputs', 'trace', 'testcase']

/** The body of `/inspect` (interface 12.6): like that of an invocation, with the revision at the top. */
export const inspectInput = declare(
  z.object({
    references: references.optional(),
    selector: selector.optional(),
    revision: inlineRevision.optional(),
    data: declare(z.object({ revision: inlineRevision.optional() }), {
      unused: DATA_OF_INVOCATIONS,
    }).optional(),
  }),
  { unused: ['version', 'session_id', 'flags', 'links', 'secrets', 'credentials', 'tags', 'meta'] },
)

export type InspectInput = z.infer<typeof inspectInput>

/** An object with a value of this shape under every name; a null counts as absent. */
function mapOf<T>(
  schema: z.ZodType<T>,
  description: string,
  nameProblem: (name: string) => string | undefined = () => undefined,
) {
  return declare(jsonObject.clone(), { each: schema })
    .transform((object, context): ReadonlyMap<string, T> => {
      const read = new Map<string, T>()
      const complain = (path: PropertyKey[], message: string): void =>
        context.addIssue({ code: 'custom', path: path.map(String), message })
      for (const [name, value] of Object.entries(withoutNulls(object))) {
        const problem = nameProblem(name)
        if (problem !== undefined) complain([name], problem)
        const parsed = schema.safeParse(value)
        if (parsed.success) read.set(name, parsed.data)
        else for (const { path, message } of parsed.error.issues) complain([name, ...path], message)
      }
      return read
    })
    .meta({ type: 'object', description })
}

function withoutNulls(object: JsonObject): Record<string, Json> {
  return Object.fromEntries(entriesOf(object).filter(([, value]) => value !== null))
}

function hex(digits: number) {
  return z
    .string()
    .transform((text) => text.toLowerCase().replaceAll('-', ''))
    .refine((text) => new RegExp(`^[0-9a-f]{${digits}}$`).test(text), `must be ${digits} hex digits`)
}
