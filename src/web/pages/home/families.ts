/** A family on the home page. */
export interface Family {
  readonly kind: 'applications' | 'evaluators' | 'workflows' | 'testsets' | 'environments' | 'queries'
  readonly title: string
  /** The singular, in a sentence. */
  readonly one: string
  /** What the family is for, shown if it is empty. */
  readonly purpose: string
  /** Whether the page can create one. */
  readonly create: boolean
  /** The kind in search results. */
  readonly found: 'application' | 'evaluator' | 'workflow' | 'testset' | 'environment' | 'query'
}

export const FAMILIES: readonly Family[] = [
  {
    kind: 'applications',
    title: 'Prompts',
    one: 'prompt',
    purpose: 'A prompt holds messages, a model and its parameters; each version of it is a commit.',
    create: true,
    found: 'application',
  },
  {
    kind: 'evaluators',
    title: 'Evaluators',
    one: 'evaluator',
    purpose: 'An evaluator judges outputs: right or wrong, or a score.',
    create: true,
    found: 'evaluator',
  },
  {
    kind: 'testsets',
    title: 'Testsets',
    one: 'testset',
    purpose:
      'A testset holds rows to try prompts on, with the expected output. Drop a CSV, JSON or JSONL file here to make one.',
    create: true,
    found: 'testset',
  },
  {
    kind: 'workflows',
    title: 'Workflows',
    one: 'workflow',
    purpose: 'Workflows are prompts, evaluators, snippets that others embed, and plain configuration.',
    create: false,
    found: 'workflow',
  },
  {
    kind: 'queries',
    title: 'Queries',
    one: 'query',
    purpose: 'A query is a saved filter of traces, versioned like everything else.',
    create: false,
    found: 'query',
  },
]

/** The family of `?kind=`; undefined for the home page itself, and for unknown ones. */
export function familyOf(kind: string | undefined): Family | undefined {
  return FAMILIES.find((family) => family.kind === kind)
}
