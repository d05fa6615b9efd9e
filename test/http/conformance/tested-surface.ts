/** One of the surfaces that the conformance suite runs over, and its words. */
export interface TestedSurface {
  readonly path: string
  readonly singular: string
  readonly plural: string
  /** The role that an artifact made here always has; undefined where there is none. */
  readonly role: string | undefined
}

/** Every surface over workflows (rulings section 4), written down anew: the tests do not believe the table of the code. */
export const testedSurfaces: readonly TestedSurface[] = [
  { path: 'workflows', singular: 'workflow', plural: 'workflows', role: undefined },
  { path: 'applications', singular: 'application', plural: 'applications', role: 'is_application' },
  { path: 'evaluators', singular: 'evaluator', plural: 'evaluators', role: 'is_evaluator' },
]

/** The singulars that any surface accepts in envelopes, references and ids (rulings section 2). */
export const singulars: readonly string[] = testedSurfaces.map((surface) => surface.singular)
