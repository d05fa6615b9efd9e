/** A family on the home page. */
export interface Family {
  readonly kind: 'applications' | 'evaluators' | 'workflows' | 'testsets' | 'queries'
  readonly title: string
  /** The singular, in a sentence. */
  readonly one: string
  /** What the family is for, shown if it is empty. */
  readonly purpose: string
  /** The kind in search results. */
  readonly found: 'application' | 'evaluator' | 'workflow' | 'testset' | 'query'
}

export const FAMILIES: readonly Family[] = [
  {
    kind: 'applications',
    title: 'Prompts',
    one: 'prompt',
    purpose: 'A prompt holds messages, a model and its parameters. Every saved change is a version.',
    found: 'application',
  },
  {
    kind: 'evaluators',
    title: 'Evaluators',
    one: 'evaluator',
    purpose: 'An evaluator judges outputs: right or wrong, or a score.',
    found: 'evaluator',
  },
  {
    kind: 'testsets',
    title: 'Testsets',
    one: 'testset',
    purpose:
      'A testset holds rows to try prompts on, with the expected output. Drop a CSV, JSON or JSONL file here to make one.',
    found: 'testset',
  },
  {
    kind: 'queries',
    title: 'Queries',
    one: 'query',
    purpose: 'A query is a saved search in traces. Every saved change is a version.',
    found: 'query',
  },
  {
    kind: 'workflows',
    title: 'Workflows',
    one: 'workflow',
    purpose:
      'Workflows are neither prompts nor evaluators: texts that prompts embed, and plain configuration.',
    found: 'workflow',
  },
]

/** The family of `?kind=`; undefined for the home page itself, and for unknown ones. */
export function familyOf(kind: string | undefined): Family | undefined {
  return FAMILIES.find((family) => family.kind === kind)
}
