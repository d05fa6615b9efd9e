import { HOSTILE_VALUES, inside, list, type MakeText, numbered } from './hostile-values.ts'

type Shapes = Readonly<Record<string, MakeText>>

/** `data` that a family takes, or nearly, of the shapes that cost it most. */
export function hostilePayloads(surface: string): Shapes {
  if (surface === 'testsets') return TESTSETS
  if (surface === 'environments') return ENVIRONMENTS
  if (surface === 'queries') return QUERIES
  return WORKFLOWS
}

/** `delta` likewise. */
export function hostileDeltas(surface: string): Shapes {
  const set = Object.fromEntries(
    Object.entries(hostilePayloads(surface)).map(([name, make]) => [`set ${name}`, inside('set', make)]),
  )
  const paths = numbered.bind(undefined, (number) => `"parameters.p${number}.q"`)
  if (surface !== 'testsets')
    return { ...set, 'many paths removed': inside('remove', (bytes) => paths(bytes)) }
  const rows = (name: string, make: MakeText): MakeText => inside('rows', inside(name, make))
  const columns = (name: string, make: MakeText): MakeText => inside('columns', inside(name, make))
  return {
    'many rows added': rows('add', (bytes) => numbered((number) => `{"data":{"a":${number}}}`, bytes)),
    'many rows removed': rows('remove', (bytes) => numbered((number) => `"${uuid(number)}"`, bytes)),
    'many columns added': columns('add', (bytes) => numbered((number) => `"c${number}"`, bytes)),
    'many columns removed': columns('remove', (bytes) => numbered((number) => `"c${number}"`, bytes)),
  }
}

const ANY: Shapes = Object.fromEntries(
  Object.entries(HOSTILE_VALUES).map(([name, make]) => [name, inside('parameters', inside('x', make))]),
)

const message = '{"role":"user","content":"Hi {{name}}"}'
const embed = '@{{workflow_revision.slug=tone, path=parameters.x}} '
const prompt = (make: MakeText): MakeText => inside('parameters', inside('prompt', make))

const WORKFLOWS: Shapes = {
  ...ANY,
  'many messages': prompt(inside('messages', (bytes) => list(message, bytes))),
  'one long message': prompt(
    inside('messages', (bytes) => `[{"role":"user","content":"${'{{name}} '.repeat(bytes / 9)}"}]`),
  ),
  'many properties of a schema': inside(
    'schemas',
    inside(
      'inputs',
      inside('properties', (bytes) =>
        numbered((number) => `"p${number}":{"type":"string"}`, bytes, '{', '}'),
      ),
    ),
  ),
  'many branches of a schema': inside(
    'schemas',
    inside(
      'inputs',
      inside('anyOf', (bytes) => list('{"type":"string"}', bytes)),
    ),
  ),
  'many embeds in a text': inside(
    'parameters',
    inside('x', (bytes) => `"${embed.repeat(bytes / embed.length)}"`),
  ),
  'many beginnings of embeds': inside(
    'parameters',
    inside('x', (bytes) => `"${'@{{'.repeat(bytes / 3)}"`),
  ),
  'many embeds': inside(
    'parameters',
    inside('x', (bytes) =>
      list('{"@svc.embed":{"@svc.references":{"workflow_revision":{"slug":"tone"}}}}', bytes),
    ),
  ),
  'many headers': inside('headers', (bytes) => numbered((number) => `"h${number}":"x"`, bytes, '{', '}')),
  'long script': (bytes) => `{"runtime":"javascript","script":"${'a();\\n'.repeat(bytes / 6)}"}`,
  'many flags under svc:': (bytes) => numbered((number) => `"svc:${number}":true`, bytes, '{', '}'),
}

const TESTSETS: Shapes = {
  'many rows': inside('testcases', (bytes) => numbered((number) => `{"data":{"a":${number}}}`, bytes)),
  'equal rows': inside('testcases', (bytes) => list('{"data":{"a":1}}', bytes)),
  'empty rows': inside('testcases', (bytes) => list('{}', bytes)),
  'rows of many columns': inside('testcases', (bytes) => {
    const columns = numbered((number) => `"c${number}":0`, Math.min(bytes, 1_000_000), '{', '}')
    return list(`{"data":${columns}}`, bytes)
  }),
  'each row a column of its own': inside('testcases', (bytes) =>
    numbered((number) => `{"data":{"c${number}":0}}`, bytes),
  ),
  ...Object.fromEntries(
    Object.entries(HOSTILE_VALUES).map(([name, make]) => [
      `cell of ${name}`,
      inside('testcases', (bytes: number) => `[{"data":{"x":${make(Math.min(bytes - 40, 5_000_000))}}}]`),
    ]),
  ),
  'many ids': inside('testcase_ids', (bytes) => numbered((number) => `"${uuid(number)}"`, bytes)),
}

const pin = '{"application":{"slug":"support-bot"},"application_revision":{"slug":"support-bot","version":1}}'

const ENVIRONMENTS: Shapes = {
  'many pins': inside('references', (bytes) => numbered((number) => `"k${number}":${pin}`, bytes, '{', '}')),
  'many empty pins': inside('references', (bytes) =>
    numbered((number) => `"k${number}":{}`, bytes, '{', '}'),
  ),
  'many {}': inside(
    'references',
    inside('k', (bytes) => list('{}', bytes)),
  ),
}

const condition = '{"field":"attributes","key":"a.b","operator":"is","value":"x"}'

const QUERIES: Shapes = {
  'many conditions': inside(
    'filtering',
    inside('conditions', (bytes) => list(condition, bytes)),
  ),
  'many groups': inside(
    'filtering',
    inside('conditions', (bytes) => list('{"conditions":[]}', bytes)),
  ),
  'a condition of many values': inside(
    'filtering',
    inside('conditions', (bytes) => `[{"field":"span_name","operator":"in","value":${list('"x"', bytes)}}]`),
  ),
  'deep groups': inside(
    'filtering',
    inside('conditions', (bytes) => list('{"conditions":['.repeat(50) + condition + ']}'.repeat(50), bytes)),
  ),
  ...Object.fromEntries(
    Object.entries(HOSTILE_VALUES).map(([name, make]) => [name, inside('filtering', inside('x', make))]),
  ),
}

function uuid(number: number): string {
  return `01a1fbb1-f5c2-76ee-83de-${number.toString(16).padStart(12, '0')}`
}
