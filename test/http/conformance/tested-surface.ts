import type { TestedFamily } from './tested-family.ts'
import { environments, queries, testsets, workflows } from './tested-family.ts'

/** One of the surfaces that the conformance suite runs over: its words, and its payloads. */
export interface TestedSurface {
  readonly path: string
  readonly singular: string
  readonly plural: string
  readonly family: TestedFamily
  /** The role that an artifact made here always has; undefined where there is none. */
  readonly role: string | undefined
}

/** Every surface (interface 1.8, 1.6), written down anew: the tests do not believe the tables of the code. */
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
  {
    path: 'environments',
    singular: 'environment',
    plural: 'environments',
    family: environments,
    role: undefined,
  },
  { path: 'queries', singular: 'query', plural: 'queries', family: queries, role: undefined },
]

/** The families that these surfaces show. */
export const testedFamilies: readonly TestedFamily[] = [
  ...new Set(testedSurfaces.map(({ family }) => family)),
]

/** The surfaces over the same things as this one, itself among them, the one that shows all of them first. */
export function siblingsOf({ family }: Pick<TestedSurface, 'family'>): readonly TestedSurface[] {
  return testedSurfaces.filter((surface) => surface.family === family)
}

/** The singulars that a surface accepts in envelopes, references and ids (interface 2.5). */
export function singularsOf(surface: TestedSurface): readonly string[] {
  return siblingsOf(surface).map(({ singular }) => singular)
}

/** A flag of the family's artifacts that is no surface's role, so that every surface may set it; undefined if there is none. */
export function freeRoleOf(family: TestedFamily): string | undefined {
  return family.roles.find((name) => siblingsOf({ family }).every(({ role }) => role !== name))
}
