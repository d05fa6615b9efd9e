import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import { MODEL_PROVIDERS } from '../../src/run/models/model-endpoint.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { streaming } from '../support/servers/chat-stub.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

after(closeBrowser)

describe('workbench: settings', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench({ WEBHOOK_ALLOW_PRIVATE: 'true', HOOK_ALLOW_PRIVATE: 'true' })
  })
  after(() => bench.close())

  it('makes a key that works, shows it once, and revokes it', async () => {
    const visit = await bench.visit({ path: '/settings/keys' })
    const { page } = visit
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('ci')
    await page.getByLabel(/^write /).check()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Create the key' }).click()
    const once = page.getByRole('dialog', { name: 'The key ci' })
    const secret = (await once.getByText(/^svc_/).textContent()) ?? ''
    await once.getByRole('button', { name: /^Copy/ }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(secret)
    expect((await bench.ask('GET', '/projects/current', undefined, secret)).project.scopes).to.deep.equal([
      'read',
      'write',
    ])
    await once.getByRole('button', { name: 'I have copied it' }).click()
    const row = page.getByRole('row').filter({ hasText: 'ci@' })
    await row.getByText('read, write').waitFor()
    expect(await page.content()).not.to.include(secret)
    await visit.expectNoBarriers()
    await visit.picture('settings-keys-1440')

    await row.getByRole('button', { name: 'Revoke ci' }).click()
    await page.getByText(/are refused from now on/).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke ci' }).click()
    await row.getByText('revoked').waitFor()
    const refused = await bench.ask('GET', '/projects/current', undefined, secret).catch(String)
    expect(refused).to.match(/401/)
    await visit.close()
  })

  it('says what is wrong with a key where it is', async () => {
    const visit = await bench.visit({ path: '/settings/keys' })
    const { page } = visit
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('a\u0007b<c>')
    await page.getByRole('button', { name: 'Create the key' }).click()
    // At the field, and nowhere else.
    await page.getByRole('dialog').locator('[aria-invalid=true]').waitFor()
    expect(await page.getByRole('dialog').getByRole('alert').count()).to.equal(0)
    expect(await page.getByLabel('Name').inputValue()).to.equal('a\u0007b<c>')
    await visit.close()
  })

  it('makes a key that expires and is limited to folders', async () => {
    for (const [slug, folder] of [
      ['f-bot', 'support/tier-1'],
      ['f-other', 'sales'],
    ])
      await bench.ask('POST', '/simple/applications/', { application: { slug, folder } })
    const visit = await bench.visit({ path: '/settings/keys' })
    const { page } = visit
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('contractor')
    await dialog.getByLabel('Expires').selectOption('On a date …')
    await dialog.getByRole('button', { name: /^Create the key ?: Choose the date/ }).waitFor()
    await dialog.getByLabel('Date').fill('2099-05-01')
    await dialog.getByLabel('support', { exact: true }).check()
    await dialog.getByLabel('Other folders').fill('later/soon')
    await dialog.getByLabel(/^admin /).check()
    await dialog.getByRole('button', { name: /cannot be limited to folders/ }).waitFor()
    await dialog.getByLabel(/^admin /).uncheck()
    await visit.expectNoBarriers()
    await visit.picture('settings-new-key-1440')
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    const secret = (await page.getByText(/^svc_/).textContent()) ?? ''
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const row = page.getByRole('row').filter({ hasText: 'contractor' })
    await row.getByText('support and all below it').waitFor()
    expect(await row.locator('time[datetime^="2099-05-01"]').count()).to.equal(1)
    const { folders } = await bench.ask('GET', '/folders', undefined, secret)
    expect(folders.map(({ path }: { path: string }) => path)).to.deep.equal(['support', 'support/tier-1'])
    await visit.close()
  })

  it('sets, tests, replaces and removes a provider’s key without ever showing it', async () => {
    let answer = 401
    const provider = createServer((request, response) => {
      const isGood = request.headers.authorization === 'Bearer sk-good-value'
      response.writeHead(isGood ? 200 : answer, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isGood ? { data: [] } : { error: { message: 'no such key' } }))
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
    const visit = await bench.visit({ path: '/settings/secrets' })
    const { page } = visit
    const dialog = page.getByRole('dialog')
    // Every provider of the server has its row.
    const rows = page.getByRole('region', { name: 'Provider keys' }).getByRole('row')
    await rows.nth(MODEL_PROVIDERS.size).waitFor()
    expect(await rows.count()).to.equal(MODEL_PROVIDERS.size + 1)
    await page.getByRole('button', { name: 'Add key for OpenAI' }).click()
    await dialog.getByLabel('API key').fill('sk-hidden-value')
    await dialog.getByLabel('Base URL').fill(base)
    expect(await dialog.getByLabel('Name').inputValue()).to.equal('OPENAI_API_KEY')
    await visit.expectNoBarriers()
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('refuses the key (401): no such key').waitFor()
    expect(await page.content()).not.to.include('sk-hidden-value')
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Replace OPENAI_API_KEY' }).click()
    expect(await dialog.getByLabel('API key').inputValue()).to.equal('')
    expect(await dialog.getByLabel('Base URL').inputValue()).to.equal(base)
    await dialog.getByLabel('API key').fill('sk-good-value')
    await dialog.getByRole('button', { name: 'Save and test' }).click()
    await page.getByRole('status').getByText('openai takes the key').waitFor()
    answer = 500
    await page.getByRole('button', { name: 'Test OPENAI_API_KEY' }).click()
    await page.getByRole('status').getByText('openai takes the key').waitFor()
    await visit.picture('settings-providers-1440')
    // A provider of one's own, and a secret that is no provider's.
    await page.getByRole('button', { name: 'Another provider' }).click()
    await dialog.getByLabel('Provider').fill('my-gateway')
    await dialog.getByLabel('API key').fill('sk-good-value')
    await dialog.getByRole('button', { name: /needs its base URL/ }).waitFor()
    await dialog.getByLabel('Base URL').fill(base)
    expect(await dialog.getByLabel('Name').inputValue()).to.equal('MY_GATEWAY_API_KEY')
    await dialog.getByRole('button', { name: 'Save and test' }).click()
    await page.getByRole('status').getByText('my-gateway takes the key').waitFor()
    await page.getByRole('button', { name: 'Set a secret' }).click()
    await dialog.getByLabel('Name').fill('HOOK_TOKEN')
    await dialog.getByLabel('Value').fill('t')
    await dialog.getByRole('button', { name: 'Set HOOK_TOKEN' }).click()
    await page.getByRole('region', { name: 'Other secrets' }).getByText('HOOK_TOKEN').waitFor()
    const { secrets } = await bench.ask('GET', '/secrets')
    expect(secrets.map(({ name, provider: it }: Record<string, string>) => [name, it])).to.deep.equal([
      ['HOOK_TOKEN', undefined],
      ['MY_GATEWAY_API_KEY', 'my-gateway'],
      ['OPENAI_API_KEY', 'openai'],
    ])
    for (const { name } of secrets) {
      await page.getByRole('button', { name: `Remove ${name}` }).click()
      await dialog.getByRole('button', { name: `Remove ${name}` }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Add key for OpenAI' }).waitFor()
    expect(await bench.ask('GET', '/secrets')).to.include({ count: 0 })
    provider.close()
    await visit.close()
  })

  it('is reached from a run that misses a key, which is set, tested and used with keys alone', async () => {
    const provider = createServer((request, response) => {
      if (request.url === '/v1/models')
        return response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}')
      return streaming([{ content: 'Hi from Mistral' }])(response, {
        url: request.url ?? '',
        headers: request.headers,
        body: undefined,
      })
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
    const prompt = {
      uri: 'svc:builtin:completion:v0',
      parameters: {
        prompt: { messages: [{ role: 'user', content: 'Hi' }], llm_config: { model: 'mistral/small' } },
      },
    }
    await bench.ask('POST', '/simple/applications/', { application: { slug: 'needy', data: prompt } })
    const visit = await bench.visit({ path: '/a/needy/edit/needy' })
    const { page } = visit
    const keys = await keysOf(page)
    await keys.tabTo(page.getByRole('textbox', { name: /^Text of message 1/ }))
    await page.keyboard.press('Control+Enter')
    const output = page.getByRole('region', { name: 'Output' })
    await keys.press(output.getByRole('link', { name: 'Add MISTRAL_API_KEY in Settings' }))
    const dialog = page.getByRole('dialog', { name: 'Add a Mistral key' })
    await keys.expectFocus(dialog.getByLabel('API key'))
    await page.keyboard.type('sk-x')
    expect(await dialog.getByLabel('API key').inputValue()).to.equal('sk-x')
    expect(await dialog.getByLabel('Name').inputValue()).to.equal('MISTRAL_API_KEY')
    await keys.type(dialog.getByLabel('Base URL'), base)
    await keys.press(dialog.getByRole('button', { name: 'Save and test' }))
    await dialog.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).to.equal('')
    await page.getByRole('status').getByText('mistral takes the key').waitFor()
    await keys.press(page.getByRole('button', { name: 'Test MISTRAL_API_KEY' }))
    await page.getByRole('status').getByText('mistral takes the key').waitFor()
    await visit.go('/a/needy/edit/needy')
    await keys.tabTo(page.getByRole('textbox', { name: /^Text of message 1/ }))
    await page.keyboard.press('Control+Enter')
    await output.getByText('Hi from Mistral').waitFor()
    await keys.expectNoMouse()
    await visit.go('/settings/secrets?provider=groq')
    await page.getByRole('dialog', { name: 'Add a Groq key' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).to.equal('')
    await visit.close()
    provider.close()
    provider.closeAllConnections()
  })

  describe('webhooks', () => {
    let receiver: Server
    let answers: number
    before(async () => {
      receiver = createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(answers).end())
      })
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    })
    after(() => new Promise((resolve) => receiver.close(resolve)))

    it('makes one, tests it, shows attempts, delivers again, archives', async () => {
      const visit = await bench.visit({ path: '/settings/webhooks' })
      const { page } = visit
      await page.getByRole('button', { name: 'New webhook' }).click()
      await page.getByLabel('Address').fill('not an address')
      await page.getByRole('button', { name: 'Create the webhook' }).click()
      await page.getByRole('dialog').locator('[aria-invalid=true]').waitFor()
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
      await page.getByLabel('Address').fill(url)
      await page.getByLabel('Name', { exact: true }).fill('Chat')
      await page.getByLabel('New version').check()
      await page.getByRole('button', { name: 'Create the webhook' }).click()
      const once = page.getByRole('dialog', { name: 'The secret of the webhook' })
      await once.getByText(/^whsec_/).waitFor()
      await once.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('link', { name: 'Chat' }).click()
      const detail = page.getByRole('region', { name: 'Deliveries to Chat' })
      await detail.getByText('No deliveries yet').waitFor()
      answers = 500
      await detail.getByRole('button', { name: 'Send a test' }).click()
      await detail.getByText('failed').click()
      await detail.getByText(/500/).first().waitFor()
      await visit.expectNoBarriers()
      await visit.picture('settings-webhooks-1440')
      answers = 204
      await detail.getByRole('button', { name: 'Deliver again' }).click()
      await detail.getByText('delivered').waitFor()
      expect(new URL(page.url()).searchParams.get('webhook')).to.match(/^[0-9a-f-]{36}$/)
      await detail.getByRole('button', { name: 'Archive' }).click()
      await page.getByRole('table').getByText('archived').waitFor()
      await detail.getByRole('button', { name: 'Bring back', exact: true }).click()
      await page.getByRole('table').getByText('active').waitFor()
      await visit.close()
    })
  })

  it('restores what was deleted, and removes it for good', async () => {
    for (const slug of ['old', 'older']) {
      await bench.ask('POST', '/simple/applications/', { application: { slug } })
      await bench.ask('DELETE', `/simple/applications/${slug}`)
    }
    const visit = await bench.visit({ path: '/settings/trash' })
    const { page } = visit
    await page.getByText('Deleted items can be restored for 30 days').waitFor()
    await page.getByRole('button', { name: 'Restore old', exact: true }).click()
    await page.getByRole('button', { name: 'Restore old', exact: true }).waitFor({ state: 'detached' })
    expect((await bench.ask('GET', '/applications/old')).application.slug).to.equal('old')
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Remove for good: older' }).click()
    await page.getByText('its ID becomes free').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove older for good' }).click()
    await page.getByText('The trash is empty').waitFor()
    await visit.close()
  })

  it('shows how the server is, downloads a backup, and speaks of nothing that is to come', async () => {
    const visit = await bench.visit({ path: '/settings/storage', width: 390, height: 844 })
    const { page } = visit
    await page.getByText('ready', { exact: true }).waitFor()
    await page.getByText('Queued writes').waitFor()
    const { storage } = await bench.ask('GET', '/projects/current/storage')
    expect(storage.bytes).to.be.above(10_000)
    const sizes = page.locator('dl[aria-label="Size"]')
    await sizes.getByText('All files of the project').waitFor()
    await sizes.getByText('Environments').waitFor()
    await page.getByText('Memory of the server').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download a backup' }).click(),
    ])
    expect(download.suggestedFilename()).to.match(/\.tar$/)
    const tar = readFileSync((await download.path()) ?? '')
    expect(tar.subarray(0, 200).toString('latin1')).to.match(/\.bundle/)
    await visit.expectNoBarriers()
    await visit.picture('settings-storage-390')
    expect(
      await page
        .getByRole('main')
        .getByText(/polic|proposal|review/i)
        .allTextContents(),
    ).to.deep.equal([])
    await visit.go('/settings/nothing')
    await page.getByText('There are no settings called “nothing”').waitFor()
    await visit.close()
  })

  it('lists who did what, in words, filtered and page by page', async () => {
    const { key } = await bench.ask('POST', '/keys', { key: { name: 'Pat', scopes: ['admin'] } })
    const data = { parameters: { a: 1 } }
    const { application } = await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'audited', data },
    })
    const deploy = {
      application_revision_ref: { id: application.revision_id },
      environment_ref: { slug: 'staging' },
    }
    await bench.ask('POST', '/applications/revisions/deploy', deploy, key.secret)
    for (let at = 0; at < 30; at++) {
      await bench.ask('POST', `/simple/applications/${application.id}/archive`)
      await bench.ask('POST', `/simple/applications/${application.id}/unarchive`)
    }
    const visit = await bench.visit({ path: '/settings/audit' })
    const { page } = visit
    const rows = page.getByRole('region', { name: 'Audit' }).getByRole('row')
    await rows.nth(50).waitFor()
    expect(await rows.count()).to.equal(51)
    await rows.filter({ hasText: 'signed in' }).first().waitFor()
    await rows
      .filter({ hasText: /admin *brought back from the archive: *audited/ })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Show older' }).click()
    await rows.nth(60).waitFor()
    await page.getByLabel('What').selectOption('Deployments')
    const deployed = rows.filter({ hasText: 'Pat' }).filter({ hasText: /deployed *audited .* to staging/ })
    await deployed.waitFor()
    await visit.expectNoBarriers()
    await visit.picture('settings-audit-1440')
    await page.getByLabel('Who').selectOption('admin (the server’s own key)')
    await deployed.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).to.contain('what=deployment').and.contain('who=key')
    await page.getByLabel('Who').selectOption('Pat')
    await deployed.waitFor()
    await page.getByLabel('To', { exact: true }).fill('2020-01-01')
    await page.getByText('Nothing that matches was recorded').waitFor()
    await page.reload()
    await page.getByText('Nothing that matches was recorded').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rows.nth(50).waitFor()
    await deployed.getByRole('link', { name: 'staging' }).waitFor({ state: 'detached' })
    await visit.close()
  })

  it('keeps the theme, and signs out', async () => {
    const visit = await bench.visit({ path: '/settings/session' })
    const { page } = visit
    await page.getByLabel('dark').check()
    expect(await page.evaluate('document.documentElement.dataset.theme')).to.equal('dark')
    await page.reload()
    expect(await page.getByLabel('dark').isChecked()).to.equal(true)
    await visit.expectNoBarriers()
    await visit.picture('settings-session-dark-1440')
    await page.getByText('it keeps none now').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    await visit.close()
  })

  it('empties the drafts when somebody signs out, that of another tab, too', async () => {
    const prompt = {
      uri: 'svc:builtin:completion:v0',
      parameters: { prompt: { messages: [{ role: 'user', content: 'Hi' }] } },
    }
    for (const slug of ['kept', 'open']) {
      await bench.ask('POST', '/simple/applications/', { application: { slug, data: prompt } })
    }
    const visit = await bench.visit({ path: '/a/kept/edit/kept', expected: /401/ })
    const { page } = visit
    const type = async (on: typeof page, text: string): Promise<void> => {
      await on.getByRole('textbox', { name: 'Text of message 1, user' }).click()
      await on.keyboard.type(text)
    }
    await type(page, 'A secret ')
    await page.getByText('draft saved in this browser').waitFor()
    const other = await visit.context.newPage()
    await other.goto(`${bench.url}/a/open/edit/open`)
    await type(other, 'Another ')
    await other.getByText('draft saved in this browser').waitFor()
    await visit.go('/settings/session')
    await page.getByText('kept/kept, open/open').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    // The other tab says so, and what is typed on there is not kept; or it has lost its session already, and shows the sign-in form.
    const typedOn = other
      .getByText('somebody signed out in another tab')
      .waitFor()
      .then(() => type(other, 'More '))
    await Promise.any([typedOn, other.getByLabel('API key').waitFor()])
    typedOn.catch(() => undefined)
    await other.close({ runBeforeUnload: true })
    await page.getByLabel('API key').fill(bench.key)
    await page.keyboard.press('Enter')
    await page.getByText('it keeps none now').waitFor()
    await visit.go('/a/kept/edit/kept')
    await page.getByText('no changes', { exact: true }).waitFor()
    expect(await page.getByText('A secret').count()).to.equal(0)
    await visit.close()
  })

  it('keeps the drafts of a prompt and of rows when the key may no longer write, is revoked, or the session ends', async () => {
    const newKey = async (...scopes: string[]) =>
      (await bench.ask('POST', '/keys', { key: { name: scopes.join(' and '), scopes } })).key
    const [writer, reader] = [await newKey('read', 'write'), await newKey('read')]
    const prompt = { messages: [{ role: 'user', content: 'Hi' }] }
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'ended', data: { uri: 'svc:builtin:completion:v0', parameters: { prompt } } },
    })
    const visit = await bench.visit({ path: '/a/ended/edit/ended', key: writer.secret })
    const { page, context } = visit
    const { keyboard } = page
    const dialog = page.getByRole('dialog', { name: /^Save version/ })
    const openSave = async (): Promise<void> => {
      await keyboard.press('Control+s')
      await dialog.waitFor()
    }
    const signInWith = (key: string) =>
      context.request.post(`${bench.url}/api/sessions`, { data: { session: { key } } })
    const signInAgain = async (): Promise<void> => {
      await page.getByRole('alert').getByText('Your session has ended').waitFor()
      await visit.expectNoBarriers()
      await page.getByLabel('API key').fill(bench.key)
      await keyboard.press('Enter')
    }
    await page.getByRole('textbox', { name: 'Text of message 1, user' }).click()
    await keyboard.press('Control+End')
    await keyboard.type(' there')
    // Another tab signs in with a key that may only read: this one still offers to save.
    await signInWith(reader.secret)
    await openSave()
    await keyboard.press('Control+Enter')
    await dialog.getByRole('alert').getByText('this request needs "write"').waitFor()
    // The key that may write is back, and is revoked.
    await signInWith(writer.secret)
    await bench.ask('DELETE', `/keys/${writer.id}`)
    await keyboard.press('Control+Enter')
    await signInAgain()
    await page.getByText('Hi there', { exact: true }).waitFor()
    await openSave()
    await keyboard.press('Control+Enter')
    await page.waitForURL('**/a/ended/v/ended/2')
    const { application } = await bench.ask('GET', '/simple/applications/ended')
    expect(application.data.parameters.prompt.messages[0].content).to.equal('Hi there')

    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'ended-rows', data: { testcases: [{ data: { word: 'a' } }] } },
    })
    await visit.go('/t/ended-rows')
    await page.getByRole('gridcell', { name: 'a', exact: true }).click()
    await keyboard.type('b')
    await keyboard.press('Enter')
    await page.getByText('1 changed').waitFor()
    await openSave()
    const [cookie] = await context.cookies()
    const ended = await fetch(`${bench.url}/api/sessions/current`, {
      method: 'DELETE',
      headers: { Cookie: `${cookie?.name}=${cookie?.value}`, Origin: bench.url },
    })
    expect(ended.status).to.equal(200)
    await keyboard.press('Control+Enter')
    await signInAgain()
    await page.getByText('1 changed').waitFor()
    await openSave()
    await keyboard.press('Control+Enter')
    await page.getByText('No changes', { exact: true }).waitFor()
    const { testset_revision } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'ended-rows' },
    })
    expect(testset_revision).to.deep.include({ version: 2 })
    expect(testset_revision.data.testcases[0].data.word).to.equal('b')
    await visit.close()
  })

  it('shows a key without admin what it would need, and asks nothing that it may not', async () => {
    const { key } = await bench.ask('POST', '/keys', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/settings/keys', key: key.secret })
    const { page } = visit
    const asked: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) asked.push(response.url())
    })
    await page.getByText('The key "reader" lacks the scope admin').first().waitFor()
    const button = page.getByRole('button', { name: /^New key ?: The key "reader" lacks/ })
    await button.focus()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('dialog').count()).to.equal(0)
    for (const section of ['Provider keys', 'Webhooks', 'Audit']) {
      await page.getByRole('link', { name: section }).click()
      await page.getByRole('heading', { name: section, level: 1 }).waitFor()
      await page.getByText('The key "reader" lacks the scope admin').first().waitFor()
      await visit.expectNoBarriers()
    }
    expect(asked).to.deep.equal([])
    await visit.close()
  })
})

describe('workbench: settings where keys are only in the store', () => {
  it('refuses to revoke the last key with admin, in the server’s own sentence', async () => {
    const bench = await openWorkbench({ SVC_API_KEY: '' })
    try {
      const secret = await firstKey(bench.storeDir)
      const { keys } = await bench.ask('GET', '/keys', undefined, secret)
      for (const { id, name } of keys) {
        if (name !== 'first') await bench.ask('DELETE', `/keys/${id}`, undefined, secret)
      }
      const visit = await bench.visit({ path: '/settings/keys', key: secret })
      const { page } = visit
      await page.getByRole('button', { name: 'Revoke first' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke first' }).click()
      await page.getByRole('dialog').getByRole('alert').getByText(/last/i).waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Revoke first' }).waitFor()
      await visit.close()
    } finally {
      await bench.close()
    }
  })
})

/** Makes an admin key as `branchpoint keys create` does. */
async function firstKey(storeDir: string): Promise<string> {
  const made = await createApiKey(nodeFs, storeDir, { project: 'default', name: 'first', scopes: ['admin'] })
  return made.token
}
