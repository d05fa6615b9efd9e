import type { FuzzedService } from './fuzzed-service.ts'

/** Makes a few things of every kind, so that there is something to ask for; hands every answer to `learn`. */
export async function seedStore(
  { url, keys }: Pick<FuzzedService, 'url' | 'keys'>,
  learn: (answer: unknown) => void,
): Promise<void> {
  const post = async (path: string, body: object): Promise<Record<string, { variant_id: string }>> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: keys.admin ?? '', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${text}`)
    // The shape is the interface's; one that is another fails below.
    const parsed = JSON.parse(text) as Record<string, { variant_id: string }>
    learn(parsed)
    return parsed
  }
  const uri = 'svc:builtin:auto_exact_match:v0'
  for (const [surface, record] of [
    ['workflows', { slug: 'flow', data: { uri: 'svc:builtin:echo:v0', parameters: {} } }],
    [
      'applications',
      { slug: 'bot', data: { parameters: { prompt: { messages: [{ role: 'user', content: 'Hi' }] } } } },
    ],
    ['evaluators', { slug: 'exact', data: { uri, parameters: { correct_answer_key: 'capital' } } }],
    ['testsets', { slug: 'rows', data: { testcases: [{ data: { country: 'Norway', capital: 'Oslo' } }] } }],
    ['queries', { slug: 'traces', data: { filtering: { conditions: [] } } }],
  ] as const) {
    const singular = surface === 'queries' ? 'query' : surface.slice(0, -1)
    const made = await post(`/simple/${surface}/`, { [singular]: record })
    const variant = `${singular}_variant`
    await post(`/${surface}/variants/query`, {})
    await post(`/${surface}/revisions/query`, {})
    await post(`/${surface}/variants/fork`, {
      [variant]: { slug: `${record.slug}.fork` },
      [`${variant}_ref`]: { id: made[singular]?.variant_id },
    })
  }
  await post('/applications/revisions/deploy', {
    application_ref: { slug: 'bot' },
    environment_ref: { slug: 'production' },
  })
  for (const path of ['', '/variants', '/revisions']) await post(`/environments${path}/query`, {})
  await post('/webhooks/', {
    webhook: { url: 'https://hooks.example.org/x', events: ['revision.committed'] },
  })
  await post('/services/invoke', {
    data: { revision: { data: { uri } }, inputs: { correct_answer: 'a' }, outputs: 'a' },
  })
  await post('/traces/query', {})
  for (const kind of ['types', 'templates']) {
    const answer = await fetch(`${url}/workflows/catalog/${kind}`, {
      headers: { authorization: keys.admin ?? '' },
    })
    learn(await answer.json())
  }
}
