import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: folders', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('shows a tree and a path, lists what lies below, and makes new prompts there', async () => {
    for (const [slug, folder] of [
      ['greeting', 'support'],
      ['refunds', 'support/tier-1'],
      ['ads', 'marketing'],
    ])
      await bench.ask('POST', '/simple/applications/', {
        application: { slug, folder, template: 'completion' },
      })
    const visit = await bench.visit()
    const { page } = visit
    await visit.go('/?kind=applications')
    const tree = page.getByRole('navigation', { name: 'Folders' })
    await tree.getByRole('link', { name: 'support' }).click()
    await page.waitForURL('**/?kind=applications&folder=support')
    const list = page.getByRole('region', { name: 'Prompts' })
    await list.getByRole('link', { name: 'refunds' }).waitFor()
    await list.getByRole('link', { name: 'ads' }).waitFor({ state: 'detached' })
    await visit.expectNoBarriers()
    await tree.getByRole('link', { name: 'tier-1' }).click()
    await list.getByRole('link', { name: 'greeting' }).waitFor({ state: 'detached' })
    const path = page.getByRole('navigation', { name: 'Folder', exact: true })
    expect(await path.getByRole('link').allTextContents()).to.deep.equal(['All folders', 'support', 'tier-1'])
    expect(await path.locator('[aria-current]').allTextContents()).to.deep.equal(['tier-1'])
    await page.getByRole('button', { name: 'New prompt' }).click()
    await page.getByRole('textbox', { name: 'ID' }).fill('closing')
    await page.getByRole('button', { name: 'Open the editor' }).click()
    await page.waitForURL('**/a/closing/edit/closing')
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.waitForURL('**/a/closing/v/closing/1')
    const { application } = await bench.ask('GET', '/applications/closing')
    expect(application.folder).to.equal('support/tier-1')
    await visit.go('/?kind=applications&folder=support/tier-1')
    await path.getByRole('link', { name: 'All folders' }).click()
    await list.getByRole('link', { name: 'ads' }).waitFor()
    await visit.close()
  })
})
