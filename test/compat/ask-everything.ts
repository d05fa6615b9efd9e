import { expect } from 'chai'
import type { Reply, RunningService } from '../support/servers/service.ts'

/** The artifacts that are whole, and stay so. */
export const HEALTHY = ['healthy', 'healthy-too']

/** Makes what is whole, in every family. */
export async function makeHealthy(service: RunningService): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const { status, text } = await service.post(path, body)
    expect(status, `${path}: ${text}`).to.equal(200)
  }
  for (const slug of HEALTHY) {
    const data = { parameters: { n: 1 } }
    await post('/simple/workflows/', {
      workflow: { slug, data, flags: { is_application: true, is_evaluator: true } },
    })
    await post('/simple/queries/', { query: { slug, data: {} } })
    await post('/simple/environments/', { environment: { slug } })
    await post('/simple/testsets/', { testset: { slug, data: { testcases: [{ data: { a: slug } }] } } })
    await post('/workflows/revisions/deploy', { workflow_ref: { slug }, environment_ref: { slug } })
  }
}

const SURFACES: readonly (readonly [string, string])[] = [
  ['workflow', 'workflows'],
  ['application', 'applications'],
  ['evaluator', 'evaluators'],
  ['testset', 'testsets'],
  ['environment', 'environments'],
  ['query', 'queries'],
]

/**
 * Asks every list and query of the project, and what is whole by its name. Answers in words what failed, or did not show what is whole.
 */
export async function failuresAmong(
  service: RunningService,
  odd: string,
  family?: string,
): Promise<string[]> {
  const failures: string[] = []
  const ask = async (reply: Promise<Reply>, what: string, ...shown: readonly string[]): Promise<void> => {
    const { status, text } = await reply.catch((error: Error) => ({ status: 0, text: error.message }))
    const missing = shown.filter((slug) => !text.includes(`"${slug}"`))
    if (status !== 200) failures.push(`${what}: ${status} ${text.slice(0, 300)}`)
    else if (missing.length > 0) failures.push(`${what} does not show ${missing.join(', ')}`)
  }
  const post = (path: string, body: object, ...shown: readonly string[]): Promise<void> =>
    ask(service.post(path, body), `${path} ${JSON.stringify(body)}`, ...shown)
  for (const [singular, plural] of surfacesOf(family)) {
    const [slug = ''] = HEALTHY
    for (const path of ['', '/variants']) {
      await post(`/${plural}${path}/query`, {}, ...HEALTHY)
      const whole = { include_archived: true, windowing: { limit: 1000, order: 'descending' } }
      await post(`/${plural}${path}/query`, whole, ...HEALTHY)
    }
    await post(`/simple/${plural}/query`, {}, ...HEALTHY)
    const revisions = HEALTHY.map((it) => `${it}-1`)
    await post(`/${plural}/revisions/query`, {}, ...revisions)
    await post(
      `/${plural}/revisions/query`,
      { include_archived: true, windowing: { limit: 500 } },
      ...revisions,
    )
    await post(`/${plural}/revisions/query`, { [`${singular}_refs`]: [{ slug }, { slug: odd }] }, `${slug}-1`)
    await post(`/${plural}/revisions/query`, { [`${singular}_revision`]: { message: '' } })
    const recent = { windowing: { newest: '2999-01-01T00:00:00Z', oldest: '1970-01-01T00:00:00Z' } }
    await post(`/${plural}/revisions/query`, recent, ...revisions)
    const { body } = await service.post(`/${plural}/variants/query`, {
      [`${singular}_variant_refs`]: [{ slug }],
    })
    const id = body?.[`${singular}_variants`]?.[0]?.id
    await post(`/${plural}/revisions/log`, { [singular]: { [`${singular}_variant_id`]: id } }, `${slug}-1`)
    await post(`/${plural}/revisions/retrieve`, { [`${singular}_ref`]: { slug } }, `${slug}-1`)
    await post(`/${plural}/revisions/dependents`, { [`${singular}_ref`]: { slug } })
  }
  for (const slug of HEALTHY) {
    const reply = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug } })
    await post('/testcases/query', { testset_id: reply.body?.testset_revision?.testset_id })
    await post('/testcases/query', { testset_revision_ref: { slug, version: 1 } })
    const deployed = { workflow_ref: { slug }, environment_ref: { slug } }
    await post('/workflows/revisions/retrieve', deployed, `${slug}-1`)
    await post('/workflows/revisions/deploy', {
      workflow_ref: { slug },
      environment_ref: { slug: 'staging' },
    })
  }
  await post('/evaluations/query', {})
  await post('/traces/query', {})
  await post('/webhooks/query', {})
  await ask(service.get('/ready'), '/ready')
  await ask(service.get('/metrics'), '/metrics')
  return failures
}

/** Asks for what is odd by its name. Answers in words where that was answered as a bug. */
export async function bugsAbout(service: RunningService, slug: string, family?: string): Promise<string[]> {
  const bugs: string[] = []
  for (const [singular, plural] of surfacesOf(family)) {
    for (const [path, ref] of [
      ['revisions/retrieve', `${singular}_ref`],
      ['revisions/retrieve', `${singular}_variant_ref`],
      ['revisions/dependents', `${singular}_ref`],
      ['revisions/query', `${singular}_refs`],
    ] as const) {
      const body = { [ref]: ref.endsWith('s') ? [{ slug }] : { slug } }
      const reply = await service.post(`/${plural}/${path}`, body)
      if (reply.status === 500) bugs.push(`/${plural}/${path} ${JSON.stringify(body)}: ${reply.text}`)
    }
  }
  return bugs
}

function surfacesOf(family: string | undefined): typeof SURFACES {
  return SURFACES.filter(([, plural]) => family === undefined || plural === family)
}
