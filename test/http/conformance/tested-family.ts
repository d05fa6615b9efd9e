/** What surfaces over the same things share. */
export interface TestedFamily {
  /** Under this name every surface of the family answers parents. */
  readonly singular: string
  /** Of its repositories in a project; also the path of the surface that shows all of the family. */
  readonly folder: string
  /** What a payload is: one JSON document, with flags that may follow from it, or rows. */
  readonly payload: 'document' | 'rows'
  /** The flags that are the artifact's own, in wire order. */
  readonly roles: readonly string[]
  /** A flag that is derived, and a payload from which it follows; undefined where none is. */
  readonly derived?: { readonly flag: string; readonly data: object }
  /** `data` to send that holds these marks; a test tells payloads apart by theirs. */
  data(...marks: readonly string[]): object
  /** A `delta` that adds a mark behind those of the latest payload, which are named for deltas that replace lists whole. */
  delta(mark: string, ...latest: readonly string[]): object
  /** The marks of `data` as an answer shows it. */
  marks(data: Shown): string[]
  /** The files in git that hold a payload, at the root of a commit's tree. */
  readonly files: readonly string[]
  /** The diff of two payloads that are equal. */
  readonly noDiff: object
  readonly free: FreePlace
  /** Two payloads that differ in all that a patch can say of theirs; none of rows, which have no patch. */
  readonly documents: readonly [object, object] | undefined
}

/** A place in a payload that takes an object with any keys. */
export interface FreePlace {
  /** Below `data`. */
  readonly at: readonly (string | number)[]
  /** Whether it takes any values too. */
  readonly takesAnyValue: boolean
  /** `data` as text with this text of an object there, as it is answered; */
  data(object: string): string
  /** and as it is in the first file, but for the layout. */
  inFile(object: string): string
  /** A `delta` that adds something and names nothing of the object. */
  readonly deltaBeside: object
}

// Tests look into answers freely; the harness has held each against its schema.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Shown = any

/** Workflows, applications and evaluators. */
export const workflows: TestedFamily = {
  singular: 'workflow',
  folder: 'workflows',
  payload: 'document',
  roles: ['is_application', 'is_evaluator', 'is_snippet'],
  derived: { flag: 'is_chat', data: { uri: 'svc:builtin:chat:v0' } },
  data: (...marks) => ({ parameters: Object.fromEntries(marks.map((mark) => [mark, true])) }),
  delta: (mark) => ({ set: { parameters: { [mark]: true } } }),
  marks: ({ parameters }) => Object.keys(parameters),
  files: ['data.json'],
  noDiff: { patch: [], files: [] },
  free: {
    at: ['parameters'],
    takesAnyValue: true,
    data: (object) => `{"parameters":${object}}`,
    inFile: (object) => `{"parameters":${object}}`,
    deltaBeside: { set: { uri: 'user:custom:mine:v1' } },
  },
  documents: [
    {
      parameters: { a: 1, list: [1, 2, 3, { k: 'v' }], 'x/y~z': true },
      script: 'one\n',
      runtime: 'python',
    },
    { parameters: { b: [null], list: [2, 3, { k: 'w' }, 4] }, uri: 'user:custom:mine:v1' },
  ],
}

export const testsets: TestedFamily = {
  singular: 'testset',
  folder: 'testsets',
  payload: 'rows',
  roles: [],
  data: (...marks) => ({ testcases: marks.map((mark) => ({ data: { mark } })) }),
  delta: (mark) => ({ rows: { add: [{ data: { mark } }] } }),
  marks: ({ testcases }) => testcases.map((testcase: Shown) => testcase.data.mark),
  files: ['columns.json', 'testcases'],
  noDiff: { rows: { added: [], removed: [], changed: [] }, columns: { added: [], removed: [] } },
  free: {
    at: ['testcases', 0, 'data'],
    takesAnyValue: true,
    data: (object) => `{"testcases":[{"data":${object}}]}`,
    inFile: (object) => object,
    deltaBeside: { rows: { add: [{ data: { beside: true } }] } },
  },
  documents: undefined,
}

/** A mark is a pin, which may point at nothing. */
const pin = { workflow_revision: { slug: 'pinned', version: 1 } }

export const environments: TestedFamily = {
  singular: 'environment',
  folder: 'environments',
  payload: 'document',
  roles: ['is_guarded'],
  data: (...marks) => ({ references: Object.fromEntries(marks.map((mark) => [mark, pin])) }),
  delta: (mark) => ({ set: { [mark]: pin } }),
  marks: ({ references }) => Object.keys(references),
  files: ['references.json'],
  noDiff: { patch: [], files: [] },
  free: {
    at: ['references'],
    takesAnyValue: false,
    data: (object) => `{"references":${object}}`,
    inFile: (object) => object,
    deltaBeside: { set: { beside: pin } },
  },
  documents: [
    { references: { a: pin, 'x/y~z': {}, moved: { workflow: { slug: 'one' }, workflow_variant: {} } } },
    { references: { b: {}, moved: { workflow: { slug: 'two' }, workflow_revision: { version: 2 } } } },
  ],
}

const conditionOn = (field: string): object => ({ field, operator: 'exists' })

export const queries: TestedFamily = {
  singular: 'query',
  folder: 'queries',
  payload: 'document',
  roles: [],
  data: (...marks) => ({ filtering: { operator: 'or', conditions: marks.map(conditionOn) } }),
  delta: (mark, ...latest) => ({
    set: { filtering: { operator: 'or', conditions: [...latest, mark].map(conditionOn) } },
  }),
  marks: ({ filtering }) => filtering.conditions.map(({ field }: Shown) => field),
  files: ['data.json'],
  noDiff: { patch: [], files: [] },
  free: {
    at: ['filtering', 'conditions', 0, 'value'],
    takesAnyValue: true,
    data: filteringOn,
    inFile: filteringOn,
    deltaBeside: { set: { windowing: { limit: 5 } } },
  },
  documents: [
    {
      formatting: { focus: 'trace' },
      filtering: { operator: 'and', conditions: [{ field: 'a', value: 1 }, { field: 'b' }, { field: 'c' }] },
    },
    {
      filtering: { operator: 'or', conditions: [{ field: 'b' }, { field: 'c', value: [null, { d: 1 }] }] },
      windowing: { limit: 5 },
    },
  ],
}

function filteringOn(value: string): string {
  return `{"filtering":{"conditions":[{"field":"f","value":${value}}],"operator":"and"}}`
}
