/** One of the surfaces that the conformance suite runs over: its words, and its payloads. */
export interface TestedSurface {
  readonly path: string
  readonly singular: string
  readonly plural: string
  readonly family: TestedFamily
  /** The role that an artifact made here always has; undefined where there is none. */
  readonly role: string | undefined
}

/** What surfaces over the same things share. */
export interface TestedFamily {
  /** Under this name every surface of the family answers parents. */
  readonly singular: string
  /** Of its repositories in a project; also the path of the surface that shows all of the family. */
  readonly folder: string
  /** What a payload is: one JSON document, with flags that follow from it, or rows. */
  readonly payload: 'document' | 'rows'
  /** The flags that are the artifact's own, in wire order. */
  readonly roles: readonly string[]
  /** `data` to send that holds these marks; a test tells payloads apart by theirs. */
  data(...marks: readonly string[]): object
  /** A `delta` that adds a mark behind those of the latest payload. */
  delta(mark: string): object
  /** The marks of `data` as an answer shows it. */
  marks(data: Shown): string[]
  /** The files in git that hold a payload, at the root of a commit's tree. */
  readonly files: readonly string[]
  /** The diff of two payloads that are equal. */
  readonly noDiff: object
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
  data: (...marks) => ({ parameters: Object.fromEntries(marks.map((mark) => [mark, true])) }),
  delta: (mark) => ({ set: { parameters: { [mark]: true } } }),
  marks: ({ parameters }) => Object.keys(parameters),
  files: ['data.json'],
  noDiff: { patch: [], files: [] },
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
}

/** Every surface (interface 2, ruling 4), written down anew: the tests do not believe the tables of the code. */
export const testedSurfaces: readonly TestedSurface[] = [
  { path: 'workflows', singular: 'workflow', plural: 'workflows', family: workflows, role: undefined },
  {
    path: 'applications',
    singular: 'application',
    plural: 'applications',
    family: workflows,
    role: 'is_application',
  },
  {
    path: 'evaluators',
    singular: 'evaluator',
    plural: 'evaluators',
    family: workflows,
    role: 'is_evaluator',
  },
  { path: 'testsets', singular: 'testset', plural: 'testsets', family: testsets, role: undefined },
]

/** The surfaces over the same things as this one, itself among them, the one that shows all of them first. */
export function siblingsOf({ family }: Pick<TestedSurface, 'family'>): readonly TestedSurface[] {
  return testedSurfaces.filter((surface) => surface.family === family)
}

/** The singulars that a surface accepts in envelopes, references and ids (rulings section 2). */
export function singularsOf(surface: TestedSurface): readonly string[] {
  return siblingsOf(surface).map(({ singular }) => singular)
}
