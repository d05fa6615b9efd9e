import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type ServerProcess, startProcess } from '../http/evaluations/server-process.ts'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { ADMIN_KEY } from '../support/servers/service.ts'
import { startCuttingProxy, type CuttingProxy } from './support/cutting-proxy.ts'
import { openVisit } from './support/workbench.ts'

describe('workbench: a server that is killed when it has saved a version, and before its answer arrives', () => {
  let folder: string
  let server: ServerProcess
  let proxy: CuttingProxy
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workbench-killed-'))
    server = await startProcess(folder)
    proxy = await startCuttingProxy(server.url)
  })
  after(async () => {
    await closeBrowser()
    await proxy.close()
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  /** Saves with this message in the open dialog; once the server has saved it, it dies, and another one starts at its address. */
  async function dieWhileSaving(page: Page, route: string, message: string): Promise<void> {
    await page.getByRole('dialog', { name: /^Save version/ }).waitFor()
    await page.keyboard.type(message)
    const isLost = proxy.loseAnswersOf(route)
    await page.keyboard.press('Control+Enter')
    await isLost
    await server.end('SIGKILL')
    await page.getByRole('alert').getByText('The server does not answer').waitFor()
    proxy.loseNone()
    server = await startProcess(folder, { PORT: new URL(server.url).port })
    await page.reload()
  }

  it('leaves one version of a prompt and of a testset, not two, and loses nothing: the draft is there after a reload', async () => {
    await server.call('POST', '/simple/applications/', {
      application: {
        slug: 'bot',
        data: {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: { messages: [{ role: 'user', content: 'Hi' }], llm_config: { model: 'mock/echo' } },
          },
        },
      },
    })
    await server.call('POST', '/simple/testsets/', {
      testset: { slug: 'rows', data: { testcases: [{ data: { word: 'a' } }] } },
    })
    const visit = await openVisit(proxy.url, {
      ...{ key: ADMIN_KEY, path: '/a/bot/edit/bot' },
      expected: /ERR_(?:CONNECTION|EMPTY)|Failed to load resource: net::/,
    })
    const { page } = visit
    const { keyboard } = page
    const message = page.getByRole('textbox', { name: 'Text of message 1, user', exact: true })
    await message.click()
    await keyboard.press('Control+End')
    await keyboard.type(' there')
    await keyboard.press('Control+s')
    await dieWhileSaving(page, '/workflows/revisions/commit', 'Longer')
    await message.getByText('Hi there').waitFor()
    await keyboard.press('Control+s')
    await page.waitForURL('**/a/bot/v/bot/2')
    const prompts = await server.call('POST', '/workflows/revisions/log', { workflow_ref: { slug: 'bot' } })
    expect(prompts.body.workflow_revisions).to.have.length(2)
    const { body } = await server.call('POST', '/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'bot' },
    })
    expect(body.workflow_revision).to.include({ version: 2, message: 'Longer' })
    expect(body.workflow_revision.data.parameters.prompt.messages[0].content).to.equal('Hi there')

    await visit.go('/t/rows')
    const cell = (text: string) => page.getByRole('gridcell', { name: text, exact: true })
    await cell('a').click()
    await keyboard.type('b')
    await keyboard.press('Control+s')
    await dieWhileSaving(page, '/testsets/revisions/commit', 'Better')
    await cell('b').waitFor()
    await page.getByText('1 changed').waitFor()
    await keyboard.press('Control+s')
    await page.getByRole('dialog', { name: /^Save version/ }).waitFor()
    await keyboard.press('Control+Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await cell('b').waitFor()
    const rows = await server.call('POST', '/testsets/revisions/log', { testset_ref: { slug: 'rows' } })
    expect(rows.body.testset_revisions).to.have.length(2)
    expect(rows.body.testset_revisions[0].message).to.equal('Better')
    await visit.close()
  })
})
