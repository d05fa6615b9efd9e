import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

after(closeBrowser)

describe('workbench: settings', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  })
  after(() => bench.close())

  it('makes a key that works, shows it once, and revokes it', async () => {
    const visit = await bench.visit({ path: '/settings/keys' })
    const { page } = visit
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('ci')
    await page.getByLabel(/^write:/).check()
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

  it('sets, replaces and removes a secret without ever showing it', async () => {
    const visit = await bench.visit({ path: '/settings/secrets' })
    const { page } = visit
    await page.getByText('No secrets yet').waitFor()
    await page.getByRole('button', { name: 'Set a secret' }).click()
    await page.getByLabel('Name').fill('EAST')
    await page.getByLabel('Value').fill('sk-hidden-value')
    await page.getByLabel('Provider', { exact: true }).fill('mistral')
    await page.getByLabel('Address of the provider').fill('https://gateway.example/v1')
    await page.getByRole('button', { name: 'Set EAST' }).click()
    await page.getByText('mistral at https://gateway.example/v1').waitFor()
    expect(await page.content()).not.to.include('sk-hidden-value')
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Replace EAST' }).click()
    expect(await page.getByLabel('Value').inputValue()).to.equal('')
    expect(await page.getByLabel('Provider', { exact: true }).inputValue()).to.equal('mistral')
    await page.getByLabel('Value').fill('sk-other')
    await page.getByRole('button', { name: 'Set EAST' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove EAST' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove EAST' }).click()
    await page.getByText('No secrets yet').waitFor()
    expect(await bench.ask('GET', '/secrets')).to.include({ count: 0 })
    await visit.close()
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
      await page.getByLabel('Name').fill('Chat')
      await page.getByLabel('revision.committed').check()
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
      await detail.getByRole('button', { name: 'Bring back' }).click()
      await page.getByRole('table').getByText('active').waitFor()
      await visit.close()
    })
  })

  it('brings back what was removed, and removes it for good', async () => {
    for (const slug of ['old', 'older']) {
      await bench.ask('POST', '/simple/applications/', { application: { slug } })
      await bench.ask('DELETE', `/simple/applications/${slug}`)
    }
    const visit = await bench.visit({ path: '/settings/trash' })
    const { page } = visit
    await page.getByRole('button', { name: 'Bring back old', exact: true }).click()
    await page.getByRole('button', { name: 'Bring back old', exact: true }).waitFor({ state: 'detached' })
    expect((await bench.ask('GET', '/applications/old')).application.slug).to.equal('old')
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Remove for good: older' }).click()
    await page.getByText('its ID becomes free').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove older for good' }).click()
    await page.getByText('The trash is empty').waitFor()
    await visit.close()
  })

  it('shows how the server is, policies that are to come, and on a narrow screen', async () => {
    const visit = await bench.visit({ path: '/settings/storage', width: 390, height: 844 })
    const { page } = visit
    await page.getByText('ready', { exact: true }).waitFor()
    await page.getByText('commits since the start').waitFor()
    await page.getByText(/branchpoint backup/).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('settings-storage-390')
    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('cell', { name: 'production' }).waitFor()
    await visit.expectNoBarriers()
    await visit.go('/settings/nothing')
    await page.getByText('There are no settings called “nothing”').waitFor()
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
    for (const section of ['Secrets', 'Webhooks']) {
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
