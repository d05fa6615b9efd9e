import type { Answer } from './call.ts'

/** A prompt, an evaluator or a workflow, as the page asks for all three. */
export type Artifact = Answer<'GET /workflows/{id}'>['workflow']

export type Revision = Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']

/** What people call the artifact, one of them and all of them, and how the start names the list that it is in. */
export function artifactKind({ flags }: Pick<Artifact, 'flags'>): {
  readonly word: string
  readonly title: string
  readonly list: 'applications' | 'evaluators' | 'workflows'
} {
  if (flags?.is_application) return { word: 'prompt', title: 'Prompts', list: 'applications' }
  if (flags?.is_evaluator) return { word: 'evaluator', title: 'Evaluators', list: 'evaluators' }
  return { word: flags?.is_snippet ? 'snippet' : 'workflow', title: 'Workflows', list: 'workflows' }
}
