import fc from 'fast-check'
import { arbitraryJunk, arbitraryJunkObject, arbitraryText } from './arbitrary-junk.ts'
import type { KnownThings } from '../known-things.ts'

/**
 * What the document calls "any JSON": payloads (`data`) and their changes (`delta`), such as the family takes, or nearly. `tag` is
 * the operation's path, whose first words name the family.
 */
export function arbitraryPayload(
  path: string,
  name: 'data' | 'delta',
  known: KnownThings,
): fc.Arbitrary<unknown> {
  const data = payloadOf(path, known)
  if (name === 'data')
    return fc.oneof({ weight: 9, arbitrary: data }, { weight: 1, arbitrary: arbitraryJunk })
  if (path.includes('testsets')) return arbitraryRowsDelta(known)
  return optional({
    set: fc.oneof(data, arbitraryJunkObject(arbitraryJunk)),
    remove: fc.array(fc.oneof(fc.constantFrom('parameters', 'parameters.a', 'bot.revision'), arbitraryText), {
      maxLength: 3,
    }),
  })
}

function payloadOf(path: string, known: KnownThings): fc.Arbitrary<unknown> {
  if (path.includes('testsets')) {
    return optional({
      testcases: fc.array(arbitraryRow(), { maxLength: 6 }),
      testcase_ids: fc.array(idOf(known, 'testcase'), { maxLength: 3 }),
      columns: fc.array(arbitraryText, { maxLength: 3 }),
    })
  }
  if (path.includes('environments')) {
    return fc.record({ references: fc.dictionary(arbitraryKey, arbitraryPin(known), { maxKeys: 3 }) })
  }
  if (path.includes('queries')) {
    return optional({
      filtering: arbitraryFiltering,
      windowing: optional({
        limit: fc.integer({ min: -1, max: 50 }),
        order: fc.constantFrom('ascending', 'descending'),
      }),
      formatting: optional({
        focus: fc.constantFrom('trace', 'span', 'x'),
        format: fc.constantFrom('tree', 'flat'),
      }),
    })
  }
  return arbitraryWorkflowData(known)
}

const HANDLERS = [
  'auto_exact_match',
  'auto_contains_json',
  'auto_json_diff',
  'auto_regex_test',
  'auto_levenshtein_distance',
  'auto_similarity_match',
  'auto_custom_code_run',
  'auto_ai_critique',
  'auto_webhook_test',
  'auto_starts_with',
  'auto_contains_all',
  'auto_semantic_similarity',
  'field_match_test',
  'json_multi_field_match',
  'feedback',
  'hook',
  'code',
  'agent',
  'match',
  'echo',
  'mock',
  'completion',
  'chat',
  'llm',
  'snippet',
  'nothing',
]

function arbitraryWorkflowData(known: KnownThings): fc.Arbitrary<unknown> {
  const parameters = fc.oneof(
    fc.record({ prompt: arbitraryPrompt }),
    fc.record({
      prompt_template: arbitraryText,
      correct_answer_key: arbitraryKey,
      threshold: fc.constantFrom(0.5, 2),
    }),
    fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.oneof(arbitraryJunk, arbitraryEmbed(known))),
    arbitraryJunkObject(arbitraryJunk),
  )
  const builtIn = fc.constantFrom(...HANDLERS).map((name) => `svc:builtin:${name}:v0`)
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ parameters }) },
    { weight: 5, arbitrary: fc.record({ uri: builtIn, parameters }) },
    {
      weight: 2,
      arbitrary: optional({
        uri: fc.oneof(builtIn, fc.constantFrom('svc:custom:hook:v0', 'svc:custom:snippet:v0'), arbitraryText),
        url: fc.constantFrom('http://127.0.0.1:1/x', 'https://localhost', 'ftp://x', 'no url'),
        headers: fc.dictionary(arbitraryKey, arbitraryText, { maxKeys: 2 }),
        schemas: optional({ inputs: arbitrarySchema, outputs: arbitrarySchema, parameters: arbitrarySchema }),
        script: arbitraryText,
        runtime: fc.constantFrom('python', 'javascript', 'typescript', 'ruby'),
        parameters,
      }),
    },
  )
}

const arbitrarySchema = fc.oneof(
  fc.constantFrom<unknown>(
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    { type: 'nothing' },
    { $ref: '#/nowhere' },
    { $ref: '#' },
    { pattern: '(' },
    { $id: 'urn:x', type: 'object' },
    { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true },
    true,
    {},
  ),
  arbitraryJunk,
)

const arbitraryPrompt = optional({
  messages: fc.array(
    fc.record({
      role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'nobody'),
      content: fc.oneof(
        arbitraryText,
        fc.array(fc.record({ type: fc.constant('text'), text: arbitraryText })),
      ),
    }),
    { maxLength: 3 },
  ),
  template_format: fc.constantFrom('curly', 'fstring', 'jinja2', 'mustache', 'none'),
  input_keys: fc.array(arbitraryKeyText(), { maxLength: 2 }),
  llm_config: optional({
    model: fc.constantFrom('gpt-4o', 'x/y', ''),
    temperature: fc.double(),
    tools: arbitraryJunk,
  }),
})

const arbitraryKey = arbitraryKeyText()

function arbitraryKeyText(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom('a', 'bot.revision', 'x.y', 'Content-Type', 'country'), arbitraryText)
}

function arbitraryEmbed(known: KnownThings): fc.Arbitrary<unknown> {
  return fc.record({
    '@svc.embed': optional({
      '@svc.references': fc
        .tuple(fc.constantFrom('workflow', 'workflow_variant', 'workflow_revision', 'environment'), fc.nat())
        .map(([kind, at]) => ({ [kind]: known.some(kind, at) ?? { slug: 'nothing' } })),
      '@svc.selector': fc.record({
        path: fc.oneof(fc.constantFrom('parameters', '$..a', '/parameters/a'), arbitraryText),
      }),
    }),
  })
}

function arbitraryPin(known: KnownThings): fc.Arbitrary<unknown> {
  const pin = fc.nat().map((at) => ({
    application: known.some('application', at) ?? {},
    application_revision: known.some('application_revision', at) ?? {},
  }))
  return fc.oneof({ weight: 3, arbitrary: pin }, { weight: 1, arbitrary: arbitraryJunk })
}

function arbitraryRow(): fc.Arbitrary<unknown> {
  const cells = fc.dictionary(
    fc.oneof(
      fc.constantFrom('country', 'capital', 'testcase_dedup_id', '__dedup_id__', '__id__'),
      arbitraryText,
    ),
    fc.oneof(arbitraryText, arbitraryJunk),
    { maxKeys: 4 },
  )
  return optional({ data: cells, tags: fc.constant({ a: 1 }), meta: arbitraryJunkObject(arbitraryJunk) })
}

function arbitraryRowsDelta(known: KnownThings): fc.Arbitrary<unknown> {
  const id = idOf(known, 'testcase')
  return optional({
    rows: optional({
      add: fc.array(arbitraryRow(), { maxLength: 4 }),
      remove: fc.array(id, { maxLength: 2 }),
      replace: fc.array(
        fc.tuple(id, arbitraryRow()).map(([at, row]) => ({ id: at, ...(row as object) })),
        { maxLength: 2 },
      ),
    }),
    columns: optional({
      add: fc.array(arbitraryText, { maxLength: 2 }),
      remove: fc.array(fc.constantFrom('country', 'nothing'), { maxLength: 2 }),
      replace: fc.array(fc.tuple(fc.constantFrom('country', 'x'), arbitraryText), { maxLength: 2 }),
    }),
  })
}

/** Filters of spans and traces, some of them nested. */
export const arbitraryFiltering: fc.Arbitrary<unknown> = fc.letrec<{ filter: unknown }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    optional({
      field: fc.oneof(
        fc.constantFrom(
          'trace_id',
          'span_name',
          'attributes',
          'status_code',
          'start_time',
          'references',
          'links',
          'content',
        ),
        arbitraryText,
      ),
      key: fc.oneof(fc.constantFrom('ag.data.inputs', 'a.b', '0'), arbitraryText),
      operator: fc.constantFrom(
        'is',
        'is_not',
        'in',
        'contains',
        'matches',
        'startswith',
        'like',
        'gt',
        'btw',
        'exists',
        'has',
        'nonsense',
      ),
      value: arbitraryJunk,
      options: arbitraryJunk,
    }),
    optional({
      operator: fc.constantFrom('and', 'or', 'not', 'nand', 'nor', 'xor'),
      conditions: fc.array(tie('filter'), { maxLength: 3 }),
    }),
  ),
})).filter

function idOf(known: KnownThings, kind: string): fc.Arbitrary<string> {
  return fc.nat().map((at) => known.some(kind, at)?.id ?? '0f3c9a1b-e2d4-8000-b000-7d41c0aa93fe')
}

/** A record whose members are each there or not. */
function optional<T extends Readonly<Record<string, fc.Arbitrary<unknown>>>>(
  members: T,
): fc.Arbitrary<object> {
  return fc.record(members, { requiredKeys: [] })
}
