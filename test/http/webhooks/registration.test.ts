import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { v7 as uuidv7 } from 'uuid'
import type { WebhookClient } from '../../support/clients/webhook-client.ts'
import { startWebhooks } from '../../support/clients/webhook-client.ts'

describe('webhooks: registration', () => {
  let client: WebhookClient
  before(async () => (client = await startWebhooks({ env: { WEBHOOK_ALLOW_PRIVATE: 'false' } })))
  after(() => client.stop())

  const URL = 'https://hooks.example.org/a'
  const keyOf = async (name: string, scopes: readonly string[]) => {
    const { token } = await createApiKey(nodeFs, client.service.storeDir, {
      project: 'default',
      name,
      scopes,
    })
    return { authorization: `ApiKey ${token}` }
  }

  it('shows the secret once, and keeps it where only the server’s user may read it', async () => {
    const made = await client.register({ url: URL, name: 'Mine' })
    expect(made).to.include({ url: URL, name: 'Mine', is_active: true })
    expect(made.events).to.deep.equal([])
    expect(made.secret).to.match(/^whsec_/)
    for (const read of [
      (await client.service.get(`/webhooks/${made.id}`)).body.webhook,
      (await client.post('/webhooks/query', { webhook: { name: 'mine' } })).webhooks[0],
    ]) {
      const { secret: _, ...rest } = made
      expect(read).to.deep.equal(rest)
    }
    const folder = join(client.service.storeDir, 'default/webhooks', made.id)
    expect(readdirSync(folder)).to.deep.equal(['webhook.json'])
    expect(statSync(join(folder, 'webhook.json')).mode & 0o777).to.equal(0o600)
  })

  it('edits, clears with null, archives and brings back', async () => {
    const { id } = await client.register({ url: URL, name: 'Edited', events: ['variant.forked'] })
    const put = async (webhook: object) =>
      (await client.service.put(`/webhooks/${id}`, { webhook })).body.webhook
    const edited = await put({ name: null, is_active: false, filters: { families: ['testsets'] } })
    expect(edited).to.include({ url: URL, is_active: false }).and.not.have.property('name')
    expect(edited.events).to.deep.equal(['variant.forked'])
    expect(edited.filters).to.deep.equal({ families: ['testsets'] })
    expect((await put({ events: null, filters: null })).events).to.deep.equal([])
    await client.post(`/webhooks/${id}/archive`)
    const listed = async (body: object) =>
      (await client.post('/webhooks/query', body)).webhooks.some((it: { id: string }) => it.id === id)
    expect(await listed({})).to.equal(false)
    expect(await listed({ include_archived: true })).to.equal(true)
    const { webhook } = await client.post(`/webhooks/${id}/unarchive`)
    expect(webhook).to.not.have.property('deleted_at')
    expect(await listed({})).to.equal(true)
  })

  it('lists in pages', async () => {
    for (let n = 0; n < 3; n++) await client.register({ url: URL, name: `Paged ${n}` })
    const ask = (windowing: object) =>
      client.post('/webhooks/query', { webhook: { name: 'paged' }, windowing })
    const first = await ask({ limit: 2, order: 'ascending' })
    const rest = await ask({ limit: 2, order: 'ascending', next: first.windowing.next })
    const names = [...first.webhooks, ...rest.webhooks].map(({ name }: { name: string }) => name)
    expect(names).to.deep.equal(['Paged 0', 'Paged 1', 'Paged 2'])
  })

  it('with an Idempotency-Key is made once, and answered again without its secret', async () => {
    const send = () =>
      client.service.post('/webhooks', { webhook: { url: URL, name: 'Once' } }, { 'idempotency-key': 'once' })
    const [first, second] = [await send(), await send()]
    expect(first.body.webhook.id).to.equal(second.body.webhook.id)
    expect(first.body.webhook).to.have.property('secret')
    expect(second.body.webhook).to.not.have.property('secret')
    expect((await client.post('/webhooks/query', { webhook: { name: 'Once' } })).count).to.equal(1)
  })

  it('needs the scope admin to write, and read to read', async () => {
    const { id } = await client.register({ url: URL })
    const [reader, writer] = [await keyOf('reader', ['read']), await keyOf('writer', ['write'])]
    expect((await client.service.get(`/webhooks/${id}`, reader)).status).to.equal(200)
    expect((await client.service.get(`/webhooks/${id}`, writer)).status).to.equal(403)
    for (const path of ['', `/${id}/archive`, `/${id}/rotate`, `/${id}/test`])
      expect(
        (await client.service.post(`/webhooks${path}`, { webhook: { url: URL } }, writer)).status,
        path,
      ).to.equal(403)
  })

  it('of another project is not there', async () => {
    const { id } = await client.register({ url: URL })
    const { token } = await createApiKey(nodeFs, client.service.storeDir, {
      project: 'other',
      name: 'other',
      scopes: ['admin'],
    })
    const reply = await client.service.get(`/webhooks/${id}`, { authorization: `ApiKey ${token}` })
    expect([reply.status, reply.body.code]).to.deep.equal([404, 'webhook_not_found'])
  })

  it('refuses what it cannot do, by field', async () => {
    const refusals: [object, string, string][] = [
      [{}, 'webhook.url', 'invalid_type'],
      [{ url: 'hooks.example.org' }, 'webhook.url', 'invalid_url'],
      [{ url: 'ftp://hooks.example.org/' }, 'webhook.url', 'invalid_url'],
      [{ url: 'https://me:secret@hooks.example.org/' }, 'webhook.url', 'invalid_url'],
      [{ url: URL, events: ['artifact.exploded'] }, 'webhook.events.0', 'invalid_value'],
      [{ url: URL, filters: { families: ['trees'] } }, 'webhook.filters.families', 'invalid_family'],
      [{ url: URL, filters: { slugs: [] } }, 'webhook.filters.slugs', 'extra_forbidden'],
      [{ url: URL, filters: { artifacts: [{}] } }, 'webhook.filters.artifacts.0', 'custom'],
      ...[
        'localhost',
        '127.1',
        '10.0.0.1',
        '169.254.169.254',
        '[::1]',
        '[::ffff:10.0.0.1]',
        '2130706433',
        '0x7f.1',
      ].map((host): [object, string, string] => [{ url: `http://${host}/` }, 'webhook.url', 'invalid_url']),
    ]
    for (const [webhook, loc, type] of refusals) {
      const { status, body } = await client.service.post('/webhooks', { webhook })
      expect(
        [status, body.errors?.[0]?.loc.join('.'), body.errors?.[0]?.type],
        JSON.stringify(webhook),
      ).to.deep.equal([422, `body.${loc}`, type])
    }
    const { id } = await client.register({ url: URL })
    const put = await client.service.put(`/webhooks/${id}`, { webhook: { url: 'http://192.168.1.1/' } })
    expect(put.status).to.equal(422)
    const missing = uuidv7()
    expect((await client.service.get(`/webhooks/${missing}`)).body.code).to.equal('webhook_not_found')
    expect((await client.service.post(`/webhooks/${missing}/test`)).body.code).to.equal('webhook_not_found')
    expect((await client.service.post(`/webhooks/deliveries/${missing}/redeliver`)).body.code).to.equal(
      'delivery_not_found',
    )
  })

  it('a copy of a webhook under another id is none, and changes neither', async () => {
    const { id } = await client.register({ url: URL, name: 'Original' })
    const folder = join(client.service.storeDir, 'default/webhooks')
    const copy = uuidv7()
    cpSync(join(folder, id), join(folder, copy), { recursive: true })
    const { webhooks } = await client.post('/webhooks/query', { webhook: { name: 'Original' } })
    expect(webhooks.map((it: { id: string }) => it.id)).to.deep.equal([id])
    for (const path of [`/webhooks/${copy}/archive`, `/webhooks/${copy}/rotate`])
      expect((await client.service.post(path)).status, path).to.equal(503)
    expect((await client.service.get(`/webhooks/${id}`)).body.webhook).to.not.have.property('updated_at')
    rmSync(join(folder, copy), { recursive: true })
  })

  it('there are at most 1,000, archived ones included', async () => {
    const { id } = await client.register({ url: URL, name: 'Many' })
    await client.post(`/webhooks/${id}/archive`)
    const folder = join(client.service.storeDir, 'default/webhooks')
    const text = readFileSync(join(folder, id, 'webhook.json'), 'utf8')
    const copies = Array.from({ length: 1000 }, () => uuidv7())
    for (const copy of copies) {
      mkdirSync(join(folder, copy))
      writeFileSync(join(folder, copy, 'webhook.json'), text.replaceAll(id, copy))
    }
    const { status, body } = await client.service.post('/webhooks', { webhook: { url: URL } })
    expect([status, body.code]).to.deep.equal([413, 'limit_exceeded'])
    expect(body.detail).to.contain('archived ones included')
    for (const copy of copies) rmSync(join(folder, copy), { recursive: true })
  })
})
