import { testedSurfaces } from '../../../http/conformance/tested-surface.ts'
import type { TestedSurface } from '../../../http/conformance/tested-surface.ts'
import type { RunningService } from '../../../support/servers/service.ts'
import { ADMIN_KEY } from '../../../support/servers/service.ts'

/** A request that reads. */
export interface ReadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

const LEVELS = ['', '/variants', '/revisions'] as const
const ALL = { include_archived: true }

/** Requests for all that a service has, in every way that its ids and slugs give. */
export async function readRequests(service: RunningService): Promise<ReadRequest[]> {
  const requests = testedSurfaces.flatMap(lists)
  for (const surface of testedSurfaces) {
    const rows = async (level: string): Promise<Found[]> => {
      const { body } = await service.post(`/${surface.path}${level}/query`, ALL)
      return body[level === '' ? surface.plural : `${surface.singular}_${level.slice(1)}`]
    }
    requests.push(...(await rows('')).flatMap((artifact) => ofArtifact(surface, artifact)))
    requests.push(...(await rows('/variants')).flatMap((variant) => ofVariant(surface, variant)))
    requests.push(...(await rows('/revisions')).flatMap((revision) => ofRevision(surface, revision)))
  }
  return requests
}

/** What a service answers to each: status, entity tag, body. */
export async function answersTo(
  service: RunningService,
  requests: readonly ReadRequest[],
): Promise<readonly string[]> {
  const answers: string[] = []
  for (let at = 0; at < requests.length; at += AT_ONCE) {
    const some = requests.slice(at, at + AT_ONCE).map(async ({ method, path, body }) => {
      const headers = { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(service.url + path, { method, headers, ...sent })
      return `${response.status} ${response.headers.get('etag')} ${await response.text()}`
    })
    answers.push(...(await Promise.all(some)))
  }
  return answers
}

const AT_ONCE = 16

// Records of all kinds, looked into freely.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Found = any

function lists({ path }: TestedSurface): ReadRequest[] {
  const windowing = { limit: 2, order: 'descending' }
  return [...LEVELS.map((level) => `/${path}${level}/query`), `/simple/${path}/query`].flatMap((query) => [
    post(query, {}),
    post(query, ALL),
    post(query, { ...ALL, windowing }),
  ])
}

function ofArtifact({ path, singular }: TestedSurface, { id, slug }: Found): ReadRequest[] {
  const references = { [`${singular}_ref`]: { slug } }
  const isDeployed = /^(?:application|evaluator)-main$/.test(slug)
  return [
    get(`/${path}/${id}`),
    get(`/simple/${path}/${id}`),
    post(`/${path}/revisions/retrieve`, { [`${singular}_ref`]: { id } }),
    post(`/${path}/revisions/retrieve`, references),
    post(`/${path}/revisions/dependents`, references),
    ...(isDeployed
      ? ['production', 'staging', 'canary'].map((environment) =>
          post(`/${path}/revisions/retrieve`, { ...references, environment_ref: { slug: environment } }),
        )
      : []),
    ...(path === 'testsets'
      ? [
          get(`/simple/testsets/${id}/download?file_type=csv`),
          post('/testcases/query', { testset_id: id, windowing: { limit: 2 } }),
        ]
      : []),
  ]
}

function ofVariant({ path, singular }: TestedSurface, { id, slug }: Found): ReadRequest[] {
  const log = { [singular]: { [`${singular}_variant_id`]: id }, include_data: true, ...ALL }
  return [
    get(`/${path}/variants/${id}`),
    post(`/${path}/revisions/log`, log),
    post(`/${path}/revisions/retrieve`, { [`${singular}_variant_ref`]: { slug } }),
  ]
}

function ofRevision({ path, singular }: TestedSurface, { id, slug, version, ...row }: Found): ReadRequest[] {
  const [reference, variant] = [`${singular}_revision_ref`, { slug: row[`${singular}_variant_slug`] }]
  return [
    get(`/${path}/revisions/${id}`),
    post(`/${path}/revisions/retrieve`, { [reference]: { slug } }),
    post(`/${path}/revisions/retrieve`, { [`${singular}_variant_ref`]: variant, [reference]: { version } }),
    post(`/${path}/revisions/diff`, { base: { id }, head: { ...variant, version: 1 } }),
    ...(path === 'testsets'
      ? [
          get(`/testsets/revisions/${id}/download?file_type=jsonl`),
          post('/testcases/query', { testset_revision_ref: { id } }),
          ...(row.data?.testcase_ids ?? []).map((testcase: string) => get(`/testcases/${testcase}`)),
        ]
      : []),
    ...(['workflows', 'environments'].includes(path)
      ? [post(`/${path}/revisions/resolve`, { [reference]: { id }, error_policy: 'placeholder' })]
      : []),
  ]
}

function get(path: string): ReadRequest {
  return { method: 'GET', path }
}

function post(path: string, body: object): ReadRequest {
  return { method: 'POST', path, body }
}
