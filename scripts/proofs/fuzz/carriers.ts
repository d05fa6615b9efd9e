import type { JsonSchema } from '../../../test/support/clients/api-document.ts'
import { inside, type MakeText } from '../../bench/turns/hostile-values.ts'

/** Puts a text where something reads it. */
type Carry = (make: MakeText) => MakeText

const path =
  (...keys: readonly string[]): Carry =>
  (make) =>
    keys.reduceRight((inner, key) => inside(key, inner), make)

const listed: Carry = (make) => (bytes) => `[${make(bytes - 2)}]`

const WORKFLOWS: readonly Carry[] = [
  path('parameters', 'x'),
  path('parameters', 'prompt', 'messages'),
  path('schemas', 'inputs', 'enum'),
  path('schemas', 'inputs', 'properties'),
  path('parameters'),
]

const BY_SURFACE: Readonly<Record<string, readonly Carry[]>> = {
  testsets: [
    path('testcases'),
    (make) => path('testcases')(listed(path('data')(make))),
    (make) => path('testcases')(listed(path('data', 'a')(make))),
  ],
  environments: [path('references'), path('references', 'a', 'b')],
  queries: [
    path('filtering', 'conditions'),
    (make) =>
      path(
        'filtering',
        'conditions',
      )(
        (bytes) =>
          `[{"field":"attributes","key":"a","operator":"is","value":${make(Math.max(2, bytes - 80))}}]`,
      ),
  ],
}

/** The ways to put a large value at a place so that it gets past the first look: an object is wanted, `data` is a family's payload. */
export function carriersTo(
  { path: keys, schema }: { readonly path: readonly string[]; readonly schema: JsonSchema },
  surface: string,
): readonly Carry[] {
  const plain: Carry = (make) => make
  const key = keys.at(-1)
  if (keys.length === 2 && key === 'data') return BY_SURFACE[surface] ?? WORKFLOWS
  if (keys.length === 2 && key === 'delta') {
    const set = (BY_SURFACE[surface] ?? WORKFLOWS).map(
      (carry): Carry =>
        (make) =>
          path('set')(carry(make)),
    )
    return surface === 'testsets' ? [path('rows', 'add'), path('columns', 'add')] : [...set, path('remove')]
  }
  if (schema.type === 'string') return [(make) => (bytes) => JSON.stringify(make(bytes / 2))]
  return schema.type === 'object' ? [path('x'), plain] : [plain]
}
