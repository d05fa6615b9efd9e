import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { seedPrompt } from './support/seed-prompts.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: the archive', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await seedPrompt(bench)
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'tickets', data: { testcases: [{ data: { question: 'Where is it?' } }] } },
    })
    await bench.ask('POST', '/testsets/variants/fork', {
      testset_variant: { slug: 'short' },
      testset_variant_ref: { slug: 'tickets' },
    })
    await bench.ask('POST', '/testsets/revisions/commit', {
      testset_revision_commit: {
        testset_variant_ref: { slug: 'tickets' },
        data: { testcases: [{ data: { question: 'When?' } }] },
      },
    })
    await bench.ask('POST', '/simple/queries/', { query: { slug: 'errors', data: {} } })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  const archivedAt = async (path: string, name: string): Promise<unknown> =>
    (await bench.ask('GET', path))[name].deleted_at
  /** Chooses a line of the menu of a page. */
  const choose = async (page: Page, item: string): Promise<void> => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  it('asks before a prompt is archived, says what that hides and what runs; the list brings it back', async () => {
    const visit = await bench.visit({ path: '/a/support-bot' })
    const { page } = visit
    await choose(page, 'Archive the prompt …')
    const dialog = page.getByRole('dialog', { name: 'Archive the prompt support-bot?' })
    await dialog.getByText('with all of its variants and versions').waitFor()
    await dialog.getByText('Deployed versions keep running').waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).to.have.members([
      'production runs v2',
      'staging runs v4',
    ])
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await archivedAt('/applications/support-bot', 'application')).to.equal(undefined)
    await choose(page, 'Archive the prompt …')
    await dialog.getByRole('button', { name: 'Archive support-bot' }).click()
    await page.getByText('The prompt support-bot is archived').waitFor()
    expect(
      await page.getByRole('link', { name: /^Edit support-bot/ }).getAttribute('aria-disabled'),
    ).to.equal('true')
    // What is deployed still answers.
    const { workflow_revision: running } = await bench.ask('POST', '/workflows/revisions/retrieve', {
      ...{ environment_ref: { slug: 'production' }, workflow_ref: { slug: 'support-bot' } },
    })
    expect(running.version).to.equal(2)
    await visit.go('/?kind=applications')
    await page.getByText('0 prompts').waitFor()
    expect(await page.getByRole('link', { name: 'Support bot' }).count()).to.equal(0)
    await page.getByLabel('Show archived').check()
    await page.waitForURL('**archived=1')
    await page.getByRole('link', { name: 'Support bot' }).waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Bring back support-bot' }).click()
    await page.getByRole('button', { name: 'Bring back support-bot' }).waitFor({ state: 'detached' })
    expect(await archivedAt('/applications/support-bot', 'application')).to.equal(undefined)
    await visit.close()
  })

  it('marks what is archived in a search that asks for it, and brings it back from there', async () => {
    const { application } = await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'relic', data: { parameters: { text: 'obsolete words' } } },
    })
    await bench.ask('POST', `/applications/${application.id}/archive`, {})
    const visit = await bench.visit()
    const { page } = visit
    await page.getByRole('navigation', { name: 'Places' }).waitFor()
    await page.keyboard.press('/')
    await page.getByLabel('Words to search for').fill('obsolete')
    await page.getByText('No results.').waitFor()
    await page.getByRole('option', { name: 'Search archived items, too' }).click()
    await page.waitForURL('**/?q=obsolete&archived=1')
    const found = page.getByRole('list', { name: 'What was found' })
    await found.getByText('archived', { exact: true }).waitFor()
    await visit.expectNoBarriers()
    await found.getByRole('button', { name: 'Bring back relic' }).click()
    await found.getByText('archived', { exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Show archived').uncheck()
    await found.getByRole('link', { name: 'relic' }).waitFor()
    await visit.close()
  })

  it('archives a variant, which is a filter of their list and marked in the graph', async () => {
    const visit = await bench.visit({ path: '/a/support-bot' })
    const { page } = visit
    const aside = page.getByRole('complementary', { name: 'About it' })
    await aside.getByTitle('Actions for the variant warmer').click()
    await page.getByRole('menuitem', { name: 'Archive the variant warmer …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Archive the variant warmer?' })
    await dialog.getByText('No environment runs it.').waitFor()
    await dialog.getByRole('button', { name: 'Archive warmer' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Greet by name' })
    await row.getByText('archived', { exact: true }).waitFor()
    expect(await page.getByRole('row').getByText('archived', { exact: true }).count()).to.equal(1)
    expect(await aside.getByRole('link', { name: 'warmer', exact: true }).count()).to.equal(0)
    await aside.getByLabel('Show archived (1)').check()
    await aside.getByRole('link', { name: 'warmer', exact: true }).waitFor()
    await visit.expectNoBarriers()
    await row.getByRole('checkbox').click()
    await page.getByRole('status').getByRole('button', { name: 'Bring back warmer' }).click()
    await row.getByText('archived', { exact: true }).waitFor({ state: 'detached' })
    await aside.getByTitle('Actions for the variant warmer').waitFor()
    await visit.close()
  })

  it('tells the archive of a version from that of the prompt', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/v/support-bot/4' })
    const { page } = visit
    await choose(page, 'Archive v4 …')
    const dialog = page.getByRole('dialog', { name: 'Archive version 4 of support-bot?' })
    await dialog.getByText('support-bot and its other versions stay').waitFor()
    await dialog.getByText('the previous version becomes the newest').waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).to.deep.equal(['staging runs v4'])
    await dialog.getByRole('button', { name: 'Archive v4' }).click()
    const note = page.getByRole('status').filter({ hasText: 'Only v4 is archived' })
    await note.waitFor()
    await visit.expectNoBarriers()
    expect(await archivedAt('/applications/support-bot', 'application')).to.equal(undefined)
    // The newest one is the one before it, also for an edit.
    await visit.go('/a/support-bot/v/support-bot')
    await page.getByRole('heading', { name: 'v3', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Edit support-bot', exact: true }).waitFor()
    await visit.go('/a/support-bot')
    const row = page.getByRole('row').filter({ hasText: 'Take in what was warmer' })
    await row.getByText('archived', { exact: true }).waitFor()
    await visit.go('/a/support-bot/v/support-bot/4')
    await note.getByRole('button', { name: 'Bring back v4' }).click()
    await note.waitFor({ state: 'detached' })
    await visit.close()
  })

  it('has it for testsets, their variants and versions, too', async () => {
    const visit = await bench.visit({ path: '/t/tickets/v/tickets/1' })
    const { page } = visit
    await page.getByRole('gridcell', { name: 'Where is it?' }).waitFor()
    await choose(page, 'Archive v1 …')
    await page.getByRole('dialog').getByRole('button', { name: 'Archive v1' }).click()
    await page.getByText('Only v1 is archived').waitFor()
    await visit.go('/t/tickets?view=versions')
    await page.getByRole('table').getByText('v2').waitFor()
    expect(await page.getByRole('table').getByText('v1', { exact: true }).count()).to.equal(0)
    await page.getByLabel('Show archived').check()
    await page.getByRole('button', { name: 'Bring back v1' }).click()
    await page.getByRole('button', { name: 'Bring back v1' }).waitFor({ state: 'detached' })

    await visit.go('/t/tickets?view=about')
    await page.getByRole('button', { name: 'Archive short …' }).click()
    await page.getByRole('dialog', { name: 'Archive the variant short?' }).waitFor()
    await page.getByRole('button', { name: 'Archive short', exact: true }).click()
    const variants = page.getByRole('region', { name: 'Variants' })
    await variants.getByRole('link', { name: 'short' }).waitFor({ state: 'detached' })
    await variants.getByLabel('Show archived').check()
    await variants.getByText('archived', { exact: true }).waitFor()
    await visit.expectNoBarriers()
    await variants.getByRole('button', { name: 'Bring back short' }).click()
    await variants.getByText('archived', { exact: true }).waitFor({ state: 'detached' })

    // It is renamed, described and tagged by the dialogs that prompts have.
    const dialog = page.getByRole('dialog')
    await choose(page, 'Rename …')
    await dialog.getByLabel('Name').fill('Tickets of May')
    await dialog.getByLabel('Description').fill('What customers ask.')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'Tickets of May', level: 2 }).waitFor()
    await page.getByText('What customers ask.').waitFor()
    await choose(page, 'Tags …')
    await dialog.getByLabel('Tag 1', { exact: true }).fill('team')
    await dialog.getByLabel('Value of tag 1', { exact: true }).fill('support')
    await dialog.getByRole('button', { name: 'Save the tags' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { testset } = await bench.ask('GET', '/testsets/tickets')
    expect(testset).to.deep.include({ name: 'Tickets of May', tags: { team: 'support' } })

    await choose(page, 'Archive the testset …')
    await page.getByRole('dialog').getByRole('button', { name: 'Archive tickets' }).click()
    await page.getByText('The testset tickets is archived').waitFor()
    const upload = page.getByRole('button', { name: /^Upload to tickets/ })
    expect(await upload.getAttribute('aria-disabled')).to.equal('true')
    await visit.go('/?kind=testsets&archived=1')
    await page.getByRole('button', { name: 'Bring back tickets' }).click()
    await page.getByRole('button', { name: 'Bring back tickets' }).waitFor({ state: 'detached' })
    expect(await archivedAt('/testsets/tickets', 'testset')).to.equal(undefined)
    await visit.close()
  })

  it('has it for saved queries, and says what the server refused', async () => {
    const visit = await bench.visit({ path: '/q/errors' })
    const { page } = visit
    await choose(page, 'Rename …')
    await page.getByRole('dialog').getByLabel('Description').fill('What went wrong.')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByText('What went wrong.').waitFor()
    await choose(page, 'Archive the query …')
    const dialog = page.getByRole('dialog', { name: 'Archive the query errors?' })
    await page.route('**/archive', (route) => route.fulfill({ status: 409, json: { detail: 'Not now.' } }), {
      times: 1,
    })
    await dialog.getByRole('button', { name: 'Archive errors' }).click()
    await dialog.getByRole('alert').getByText('Not now.').waitFor()
    await dialog.getByRole('button', { name: 'Archive errors' }).click()
    await page.getByText('The query errors is archived').waitFor()
    await page.getByRole('button', { name: 'Bring back errors' }).click()
    await page.getByText('The query errors is archived').waitFor({ state: 'detached' })
    await visit.close()
  })

  it('marks on the board what runs although it is archived', async () => {
    const visit = await bench.visit({ path: '/env' })
    const { page } = visit
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Support bot' }) })
    await row.getByText('v4').waitFor()
    expect(await row.getByText('archived', { exact: true }).count()).to.equal(0)
    const { application_revision: running } = await bench.ask('POST', '/applications/revisions/retrieve', {
      ...{ environment_ref: { slug: 'staging' }, application_ref: { slug: 'support-bot' } },
    })
    await bench.ask('POST', `/applications/revisions/${running.id}/archive`, {})
    await visit.go('/env')
    await row.getByText('archived', { exact: true }).waitFor()
    expect(await row.getByText('archived', { exact: true }).count()).to.equal(1)
    await row.getByTitle('The version is archived. It keeps running.').waitFor()
    await row.getByTitle('Deploy support-bot to or from staging').click()
    const promote = page.getByRole('menuitem', { name: 'Promote v4 to production' })
    expect(await promote.getAttribute('aria-disabled')).to.equal('true')
    await page.keyboard.press('Escape')
    await visit.expectNoBarriers()
    await bench.ask('POST', `/applications/revisions/${running.id}/unarchive`, {})
    await visit.close()
  })

  it('archives an environment, which goes on answering; the board shows it where it is asked to, and brings it back', async () => {
    const visit = await bench.visit({ path: '/env/staging?view=now' })
    const { page } = visit
    await choose(page, 'Archive the environment …')
    const dialog = page.getByRole('dialog', { name: 'Archive the environment staging?' })
    await dialog.getByText('disappears from lists, menus, search and the board of deployments').waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).to.deep.equal(['support-bot v4'])
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Archive staging' }).click()
    await page.getByText('The environment staging is archived').waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    const rename = page.getByRole('menuitem', { name: /^Rename …/ })
    expect(await rename.getAttribute('aria-disabled')).to.equal('true')
    await page.keyboard.press('Escape')
    // What it runs is still told, since clients are still answered with it; nothing is deployed to it.
    const another = page.getByRole('button', { name: /^Deploy another version of support-bot/ })
    expect(await another.getAttribute('aria-disabled')).to.equal('true')
    expect(await page.getByRole('button', { name: /^Protect/ }).getAttribute('aria-disabled')).to.equal(
      'true',
    )
    await visit.go('/env')
    await page.getByRole('columnheader', { name: 'production' }).waitFor()
    const column = page.getByRole('columnheader', { name: 'staging' })
    expect(await column.count()).to.equal(0)
    await page.getByLabel('Show archived').check()
    await page.waitForURL('**archived=1')
    await column.getByText('archived', { exact: true }).waitFor()
    await page.getByText('v4').waitFor()
    await page.getByTitle('Deploy support-bot to or from staging').click()
    const deploy = page.getByRole('menuitem', { name: /^Deploy another version to staging/ })
    expect(await deploy.getAttribute('aria-disabled')).to.equal('true')
    await page.keyboard.press('Escape')
    await visit.expectNoBarriers()
    await column.getByRole('button', { name: 'Bring back staging' }).click()
    await column.getByText('archived', { exact: true }).waitFor({ state: 'detached' })
    expect(await archivedAt('/environments/staging', 'environment')).to.equal(undefined)
    await visit.close()
  })
})
