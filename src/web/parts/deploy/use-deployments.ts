import type { Answer } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'

/** What an environment runs of an artifact. */
export type Deployment = Answer<'POST /deployments/query'>['deployments'][number]

/** What each environment runs of a prompt, an evaluator or a workflow, under its usual key. */
export function useDeployments(slug: string): {
  readonly deployments: readonly Deployment[]
  readonly isPending: boolean
} {
  const { data, isPending } = useRoute('POST /deployments/query', {
    body: { deployment: { artifact_slug: slug } },
  })
  const own = data?.deployments.filter(
    ({ key, artifact, revision }) =>
      key === `${slug}.revision` && artifact?.kind === 'workflow' && revision !== undefined,
  )
  return { deployments: (own ?? []).sort(productionFirst), isPending }
}

/** The slugs of the environments. The overview of the project has them, too, but counts everything for it. */
export function useEnvironments(enabled = true): readonly string[] {
  const { data } = useRoute('POST /environments/query', { body: {} }, { enabled })
  return data?.environments.map(({ slug }) => slug) ?? []
}

/** The environment that a prompt's page shows first. */
export const PRODUCTION = 'production'

function productionFirst(left: Deployment, right: Deployment): number {
  return Number(right.environment.slug === PRODUCTION) - Number(left.environment.slug === PRODUCTION)
}

/** `3 versions behind`. */
export function versionsBehind(count: number): string {
  return count === 1 ? '1 version behind' : `${count.toLocaleString()} versions behind`
}
