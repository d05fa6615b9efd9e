import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

after(closeBrowser)

describe('workbench: deployments', () => {
  let bench: Workbench
  const make = async (slug: string, versions: number, name?: string): Promise<void> => {
    const data = (version: number) => ({
      parameters: {
        prompt: { messages: [{ role: 'system', content: `You are ${slug}, number ${version}.` }] },
      },
    })
    await bench.ask('POST', '/simple/applications/', {
      application: { slug, data: data(1), ...(name === undefined ? {} : { name }) },
    })
    for (let version = 2; version <= versions; version++) {
      await bench.ask('POST', '/applications/revisions/commit', {
        application_revision_commit: {
          application_variant_ref: { slug },
          message: `Change ${version}`,
          data: data(version),
        },
      })
    }
  }
  const deploy = (slug: string, version: number, to: string, message?: string) =>
    bench.ask('POST', '/applications/revisions/deploy', {
      application_revision_ref: { slug, version },
      environment_ref: { slug: to },
      ...(message === undefined ? {} : { message }),
    })
  const runs = async (slug: string, environment: string): Promise<number | undefined> => {
    const { deployments } = await bench.ask('POST', '/deployments/query', {
      deployment: { artifact_slug: slug, environment_ref: { slug: environment } },
    })
    return deployments[0]?.revision.version
  }
  const keyOf = async (...scopes: readonly string[]): Promise<string> =>
    (await bench.ask('POST', '/keys/', { key: { name: scopes.join(' and '), scopes } })).key.secret
  /** The cell of a prompt and an environment: development, staging, production. */
  const cell = (page: Page, slug: string, column: number) =>
    page
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: slug }) })
      .getByRole('cell')
      .nth(column)

  before(async () => {
    bench = await openWorkbench()
    await make('support-bot', 4, 'Support bot')
    await make('triage', 3)
    await make('summary', 1)
    await deploy('support-bot', 1, 'production', 'First release')
    await deploy('support-bot', 3, 'staging', 'Try it')
    await deploy('triage', 3, 'development')
    const { environment } = await bench.ask('POST', '/simple/environments/', {
      environment: { slug: 'vault' },
    })
    await bench.ask('POST', `/simple/environments/${environment.id}/guard`, {})
  })
  after(() => bench.close())

  it('shows what runs where, since when, by whom and how far behind', async () => {
    const visit = await bench.visit({ path: '/env' })
    const { page } = visit
    const production = cell(page, 'support-bot', 2)
    await production.getByRole('link', { name: 'v1' }).waitFor()
    expect(await production.textContent()).to.match(/v1\s*3 versions behind.* · admin/)
    expect(await cell(page, 'support-bot', 0).textContent()).to.match(/^–/)
    expect(await page.getByRole('columnheader', { name: /vault/ }).textContent()).to.contain('protected')
    await visit.expectNoBarriers()
    await visit.picture('deployments-1440')
    // How far it is behind leads to what that would bring.
    await production.getByRole('link', { name: '3 versions behind' }).click()
    await page.waitForURL('**/a/support-bot/compare/e:production...v:support-bot')
    await page.getByText('is 3 ahead of').waitFor()
    await visit.go('/env?q=tri')
    await page.getByRole('rowheader', { name: 'triage' }).waitFor()
    expect(await page.getByRole('rowheader').count()).to.equal(1)
    await page.getByLabel('Show prompts whose name has').fill('nothing like that')
    await page.getByText('No deployment matches “nothing like that”').waitFor()
    await visit.close()
  })

  it('fits a telephone', async () => {
    const visit = await bench.visit({ path: '/env', width: 390, height: 844 })
    await visit.page.getByRole('rowheader', { name: 'triage' }).waitFor()
    expect(await visit.page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    await visit.expectNoBarriers()
    await visit.picture('deployments-390')
    await visit.close()
  })

  it('promotes by keys alone, after showing what would change', async () => {
    const visit = await bench.visit({ path: '/env?artifact=support-bot' })
    const { page } = visit
    await cell(page, 'support-bot', 1).getByRole('link', { name: 'v3' }).waitFor()
    // From staging, where v3 runs, to production.
    await page.keyboard.press('l')
    await page.keyboard.press('d')
    const sheet = page.getByRole('dialog', { name: 'Deploy support-bot v3 to production' })
    await sheet.locator('ins', { hasText: '3' }).waitFor()
    expect(await sheet.locator('del').allTextContents()).to.deep.equal(['1'])
    expect(new URL(page.url()).search).to.contain('what=e%3Astaging')
    // The same keys as where two versions are compared; those of the board behind it have none now.
    const where = sheet.getByRole('region', { name: 'What changed' }).getByRole('status')
    const seen: (string | null)[] = []
    for (const key of ['n', 'n', 'p']) {
      await page.keyboard.press(key)
      seen.push(await where.textContent())
    }
    // The text, and the name that only the first version has.
    expect(seen).to.deep.equal(['1 of 2', '2 of 2', '1 of 2'])
    expect(await sheet.locator('[data-current]').textContent()).to.contain('number 3')
    await page.keyboard.press('j')
    await visit.expectNoBarriers()
    await visit.picture('deploy-1440')
    await sheet.getByRole('textbox', { name: 'Message' }).focus()
    await page.keyboard.type('Release the third')
    await sheet.getByRole('button', { name: 'Deploy support-bot v3 to production' }).focus()
    await page.keyboard.press('Enter')
    await sheet.waitFor({ state: 'detached' })
    await cell(page, 'support-bot', 2).getByRole('link', { name: 'v3' }).waitFor()
    expect(await runs('support-bot', 'production')).to.equal(3)
    // The same again changes nothing, and says so before it is tried.
    await visit.go('/env?deploy=support-bot&to=production&what=e:staging')
    await page.getByText('v3 runs in production already.').first().waitFor()
    await visit.close()
  })

  it('promotes by dragging a cell onto another one of its row, and onto no other row', async () => {
    const visit = await bench.visit({ path: '/env' })
    const { page } = visit
    const from = cell(page, 'triage', 0).locator('[draggable=true]')
    await from.waitFor()
    await from.dragTo(cell(page, 'support-bot', 1))
    expect(await page.getByRole('dialog').count()).to.equal(0)
    await from.dragTo(cell(page, 'triage', 1))
    await page
      .getByRole('dialog', { name: 'Deploy triage v3 to staging' })
      .getByText('triage is not deployed to staging yet.')
      .waitFor()
    await visit.close()
  })

  it('deploys what runs nowhere yet, and takes it down again', async () => {
    const visit = await bench.visit({ path: '/env' })
    const { page } = visit
    await page.getByRole('button', { name: 'Deploy…', exact: true }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('summ')
    await page.getByRole('dialog').getByRole('button', { name: 'summary' }).click()
    await page.waitForURL('**/env?deploy=summary&artifact=summary')
    const sheet = page.getByRole('dialog', { name: 'Deploy summary v1' })
    const button = sheet.getByRole('button', { name: /^Deploy summary v1/ })
    await button.waitFor()
    expect(await button.getAttribute('title')).to.equal('Choose an environment.')
    await visit.expectNoBarriers()
    await sheet.getByLabel('Environment').selectOption('development')
    await page.waitForURL('**&to=development')
    await sheet.getByRole('button', { name: 'Deploy summary v1 to development' }).click()
    await sheet.waitFor({ state: 'detached' })
    await cell(page, 'summary', 0).getByRole('link', { name: 'v1' }).waitFor()
    await page.getByTitle('Deploy summary to or from development').click()
    await page.getByRole('menuitem', { name: 'Take it down from development…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Take summary.revision down from development' })
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Take it down' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await runs('summary', 'development')).to.equal(undefined)
    await visit.close()
  })

  it('deploys v3 while v9 is newest, from the page of the prompt: by mouse, and by keys alone', async () => {
    await make('nine', 9)
    await deploy('nine', 8, 'production')
    const visit = await bench.visit({ path: '/a/nine' })
    const { page } = visit
    const sheet = page.getByRole('dialog', { name: /^Deploy nine v3/ })
    await page.getByRole('combobox', { name: 'Other version' }).fill('v3')
    await page.getByRole('option', { name: /^nine v3/ }).click()
    await page.getByText('6 versions behind').waitFor()
    await page.getByRole('button', { name: 'Deploy …' }).click()
    await sheet.getByText('Choose an environment to see what would change there.').waitFor()
    await sheet.getByLabel('Environment').selectOption('production')
    await sheet.locator('ins', { hasText: '3' }).waitFor()
    await visit.expectNoBarriers()
    await sheet.getByRole('button', { name: 'Deploy nine v3 to production' }).click()
    await sheet.waitFor({ state: 'detached' })
    expect(await runs('nine', 'production')).to.equal(3)
    const deployed = page.getByRole('complementary', { name: 'What the prompt does' }).getByRole('listitem')
    await deployed.filter({ hasText: 'production' }).getByText('6 versions behind').waitFor()

    // By keys: down the history to v3, d, and the environment by its first letter.
    await visit.go('/a/nine')
    const keys = await keysOf(page)
    await page.getByRole('grid').getByRole('row').first().waitFor()
    for (let step = 0; step < 7; step++) await page.keyboard.press('j')
    await page.keyboard.press('d')
    await sheet.waitFor()
    await keys.tabTo(sheet.getByLabel('Environment'))
    await page.keyboard.type('stag')
    await page.waitForURL('**to=staging**')
    await sheet.getByText('nine is not deployed to staging yet.').waitFor()
    await keys.press(sheet.getByRole('button', { name: 'Deploy nine v3 to staging' }))
    await sheet.waitFor({ state: 'detached' })
    await keys.expectNoMouse()
    expect(await runs('nine', 'staging')).to.equal(3)
    await visit.close()
  })

  it('makes an environment on the board, and lets a key that may only read do neither that nor deploy', async () => {
    const visit = await bench.visit({ path: '/env' })
    const { page } = visit
    await page.getByRole('button', { name: 'New environment…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New environment' })
    expect(await dialog.getByRole('button', { name: /^Create/ }).getAttribute('title')).to.equal(
      'Type a name first.',
    )
    await page.keyboard.type('Quality check')
    expect(await dialog.getByLabel('ID').inputValue()).to.equal('quality-check')
    await dialog.getByLabel('ID').fill('staging')
    await dialog.getByRole('button', { name: 'Create staging' }).click()
    await dialog.getByText(/“staging” is taken/).waitFor()
    await visit.expectNoBarriers()
    await dialog.getByLabel('ID').fill('qa')
    await page.keyboard.press('Enter')
    await page.getByRole('columnheader', { name: 'qa' }).waitFor()
    expect((await bench.ask('GET', '/environments/qa')).environment.name).to.equal('Quality check')
    await visit.close()

    const reader = await bench.visit({ path: '/env', key: await keyOf('read') })
    for (const name of [/^Deploy…/, /^New environment…/]) {
      const button = reader.page.getByRole('button', { name })
      await button.waitFor()
      expect(await button.textContent()).to.contain('lacks the scope write')
    }
    // What shows first what would change may be opened: its last button is off.
    await reader.go('/a/support-bot')
    await reader.page.getByRole('button', { name: 'Deploy …' }).click()
    await reader.page.getByRole('dialog').getByLabel('Environment').selectOption('staging')
    const last = reader.page.getByRole('button', { name: /^Deploy support-bot v\d to staging/ })
    await last.waitFor()
    expect(await last.textContent()).to.contain('lacks the scope write')
    await reader.close()
  })

  it('deploys from a version of a variant that version of that variant, which the board and the timeline name', async () => {
    await make('mailer', 2)
    await bench.ask('POST', '/variants/fork', {
      application_variant: { slug: 'kinder' },
      application_variant_ref: { slug: 'mailer' },
    })
    // Both variants hold the commit.
    const visit = await bench.visit({ path: '/a/mailer/v/kinder/1' })
    const { page } = visit
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Deploy …' }).click()
    const sheet = page.getByRole('dialog', { name: 'Deploy mailer v1 of kinder' })
    await sheet.waitFor()
    await sheet.getByLabel('Environment').selectOption('staging')
    await sheet.getByText('mailer is not deployed to staging yet.').waitFor()
    await sheet.getByRole('button', { name: 'Deploy mailer v1 of kinder to staging' }).click()
    await sheet.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname + new URL(page.url()).search).to.equal('/a/mailer/v/kinder/1')
    const { deployments } = await bench.ask('POST', '/deployments/query', {
      deployment: { artifact_slug: 'mailer' },
    })
    expect(deployments.map((it: any) => [it.variant.slug, it.revision.slug])).to.deep.equal([
      ['kinder', 'kinder-1'],
    ])
    await visit.go('/env?artifact=mailer')
    const running = cell(page, 'mailer', 1)
    await running.getByRole('link', { name: 'v1', exact: true }).waitFor()
    expect(await running.textContent()).to.contain('kinder')
    // What is promoted stays that variant's.
    await page.getByTitle('Deploy mailer to or from staging').click()
    await page.getByRole('menuitem', { name: 'Promote v1 to production' }).click()
    await page.getByRole('button', { name: 'Deploy mailer v1 of kinder to production' }).click()
    await cell(page, 'mailer', 2).getByText('kinder').waitFor()
    await visit.go('/env/production')
    const entries = page.getByRole('list', { name: 'Deployments to production' }).locator('> li')
    await entries.first().getByText('v1 of kinder, for the first time').waitFor()
    await visit.close()
  })

  it('finds any version by its number, its variant or its words, also past the newest', async () => {
    await make('veteran', 31)
    await bench.ask('POST', '/variants/fork', {
      application_variant: { slug: 'rookie' },
      application_variant_ref: { slug: 'veteran' },
    })
    const visit = await bench.visit({ path: '/env?deploy=veteran&to=staging' })
    const { page } = visit
    const field = page.getByRole('combobox', { name: 'Version' })
    await page.getByRole('button', { name: 'Deploy veteran v31 to staging' }).waitFor()
    await field.click()
    const options = page.getByRole('option')
    await options.filter({ hasText: 'veteran v31' }).waitFor()
    expect(await options.first().textContent()).to.equal('the newest version of veteran')
    expect(await options.filter({ hasText: 'veteran v2Change' }).count()).to.equal(0)
    await page.getByRole('button', { name: 'Show more' }).click()
    await options.filter({ hasText: 'veteran v2Change' }).waitFor()
    await visit.expectNoBarriers()
    await field.fill('v3')
    await options.filter({ hasText: 'rookie v3' }).waitFor()
    expect(await options.first().textContent()).to.equal('veteran v3Change 3')
    await field.fill('rookie v4')
    await options.filter({ hasText: 'rookie v4' }).click()
    await page.getByRole('button', { name: 'Deploy veteran v4 of rookie to staging' }).waitFor()
    expect(await field.inputValue()).to.equal('rookie v4')
    await field.fill('number 17')
    await options.filter({ hasText: 'veteran v17' }).click()
    await page.getByRole('button', { name: 'Deploy veteran v17 to staging' }).waitFor()
    await page.waitForURL('**what=r%3Aveteran-17')
    await visit.close()
  })

  it('says before the button what a guard or a missing scope forbids, and after it what the server refused', async () => {
    const writer = await bench.visit({
      path: '/env?deploy=triage&to=vault&what=v:triage',
      key: await keyOf('read', 'write'),
    })
    const refused = writer.page.getByRole('button', { name: /Deploy triage v3 to vault/ })
    await refused.waitFor()
    await writer.page.getByText('vault is protected.').first().waitFor()
    await refused.click({ force: true })
    expect(await runs('triage', 'vault')).to.equal(undefined)
    await writer.close()

    const reader = await bench.visit({
      path: '/env?deploy=triage&to=staging&what=v:triage',
      key: await keyOf('read'),
    })
    await reader.page.getByText('lacks the scope write').first().waitFor()
    await reader.close()

    // Archived while the sheet is open: the server says so, and nothing is deployed.
    await make('going', 1)
    const visit = await bench.visit({ path: '/env?deploy=going&to=staging&what=v:going' })
    const button = visit.page.getByRole('button', { name: 'Deploy going v1 to staging' })
    await button.waitFor()
    const { application } = await bench.ask('GET', '/applications/going')
    await bench.ask('POST', `/applications/${application.id}/archive`, {})
    await button.click()
    await visit.page.getByRole('dialog').getByRole('alert').waitFor()
    expect(await visit.page.getByRole('alert').textContent()).to.contain('archived')
    expect(await runs('going', 'staging')).to.equal(undefined)
    await visit.close()
  })

  it('shows what somebody else deployed without a reload: on the board at once, on a timeline when one asks for it', async () => {
    const watching = await bench.visit({ path: '/env' })
    await watching.page.getByText('live', { exact: true }).waitFor()
    await cell(watching.page, 'triage', 0).getByRole('link', { name: 'v3' }).waitFor()
    const reading = await bench.visit({ path: '/env/production' })
    await reading.page.getByText('live', { exact: true }).waitFor()
    const entries = reading.page.getByRole('list', { name: 'Deployments to production' }).locator('> li')
    await entries.first().waitFor()
    const before = await entries.count()
    const other = await bench.visit({ path: '/env?deploy=triage&to=production&what=r:triage-2' })
    await other.page.getByRole('button', { name: 'Deploy triage v2 to production' }).click()
    await cell(watching.page, 'triage', 2).getByRole('link', { name: 'v2' }).waitFor()
    await reading.page.getByRole('status').getByText('production changed by admin').waitFor()
    // What somebody reads does not move under the cursor.
    expect(await entries.count()).to.equal(before)
    await reading.page.getByRole('button', { name: 'show', exact: true }).click()
    await entries.nth(before).waitFor()
    expect(await entries.first().textContent()).to.match(/triage\s*v2, for the first time/)
    for (const visit of [watching, reading, other]) await visit.close()
  })

  it('draws of hundreds of rows those in sight, and goes through them by keys', async () => {
    const references: Record<string, object> = {}
    const { application } = await bench.ask('GET', '/simple/applications/triage')
    for (let at = 0; at < 400; at++) {
      references[`row-${String(at).padStart(3, '0')}.revision`] = {
        application: { id: application.id, slug: 'triage' },
        application_variant: { id: application.variant_id, slug: 'triage' },
        application_revision: { slug: 'triage', version: 1 },
      }
    }
    const { environment } = await bench.ask('POST', '/simple/environments/', {
      environment: { slug: 'crowd' },
    })
    await bench.ask('POST', '/environments/revisions/commit', {
      environment_revision_commit: { environment_variant_id: environment.variant_id, data: { references } },
    })
    const visit = await bench.visit({ path: '/env' })
    const { page } = visit
    await page.getByText('row-000.revision').waitFor()
    expect(await page.getByRole('rowheader').count()).to.be.below(60)
    // More rows come as one gets to the end of those that are there.
    const scrollUntil = (seen: string, to: number): Promise<unknown> =>
      page.waitForFunction(
        ([text, most]) => {
          const { document } = globalThis as any // there are no types of browsers here
          const board = document.querySelector('[role=region][aria-label="Deployments"]')
          board.scrollTop = Math.min(board.scrollHeight, most)
          return board.textContent.includes(text)
        },
        [seen, to] as const,
      )
    await scrollUntil('row-140.revision', 9000)
    await scrollUntil('row-399.revision', 1e9)
    expect(await page.getByRole('rowheader').count()).to.be.below(60)
    await scrollUntil('row-000.revision', 0)
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/a/*')
    await visit.close()
  })
})

describe('workbench: an environment', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    const data = (text: string) => ({
      parameters: { prompt: { messages: [{ role: 'system', content: text }] } },
    })
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'bot', data: data('You answer in ten words.') },
    })
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_ref: { slug: 'bot' },
        data: data('You answer in five words.'),
      },
    })
    for (const version of [1, 2]) {
      await bench.ask('POST', '/applications/revisions/deploy', {
        application_revision_ref: { slug: 'bot', version },
        environment_ref: { slug: 'production' },
        message: version === 1 ? 'First' : '<script>alert(2)</script>',
      })
    }
  })
  after(() => bench.close())

  it('tells its timeline, and rolls back after showing what that changes', async () => {
    const visit = await bench.visit({ path: '/env/production' })
    const { page } = visit
    const entries = page.getByRole('list', { name: 'Deployments to production' }).locator('> li')
    await entries.first().waitFor()
    expect(await entries.count()).to.equal(2)
    expect(await entries.nth(0).textContent()).to.match(/<script>alert\(2\)<\/script>.*admin.*bot\s*v1 → v2/)
    expect(await entries.nth(1).textContent()).to.match(/First.*v1, for the first time/)
    await visit.expectNoBarriers()
    await visit.picture('environment-1440')
    await entries.nth(0).getByRole('button', { name: 'Roll back to v1…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Deploy bot v1 to production' })
    await sheet.locator('del', { hasText: 'five' }).waitFor()
    await sheet.locator('ins', { hasText: 'ten' }).waitFor()
    await sheet.getByRole('textbox', { name: 'Message' }).fill('Back to ten words')
    await sheet.getByRole('button', { name: 'Deploy bot v1 to production' }).click()
    await sheet.waitFor({ state: 'detached' })
    await entries.nth(2).waitFor()
    expect(await entries.nth(0).textContent()).to.match(/Back to ten words.*v2 → v1/)
    await visit.close()
  })

  it('says what runs now, and how a client asks for it', async () => {
    const visit = await bench.visit({ path: '/env/production' })
    const { page } = visit
    await page
      .getByRole('navigation', { name: 'Views of the environment' })
      .getByRole('link', { name: 'Runs now' })
      .click()
    await page.waitForURL('**?view=now')
    const row = page.getByRole('table', { name: 'What runs in production' }).getByRole('row').nth(1)
    expect(await row.textContent()).to.match(/bot\s*v1\s*1 version behind/)
    await page.getByText('API', { exact: true }).click()
    const command = page.getByLabel('Get what runs in production', { exact: true })
    expect(await command.textContent()).to.contain('"workflow_ref":{"slug":"bot"}')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('is guarded and opened again, by who may', async () => {
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'writer', scopes: ['read', 'write'] } })
    const writer = await bench.visit({ path: '/env/staging', key: key.secret })
    expect(await writer.page.getByRole('button', { name: /Protect…/ }).textContent()).to.contain(
      'lacks the scope deploy',
    )
    await writer.close()
    const visit = await bench.visit({ path: '/env/staging' })
    const { page } = visit
    await page.getByText('Nothing has been deployed to staging yet.').waitFor()
    await page.getByRole('button', { name: 'Protect…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Protect staging' }).click()
    await page.getByText('Only keys with the scope deploy can deploy').waitFor()
    expect((await bench.ask('GET', '/environments/staging')).environment.flags.is_guarded).to.equal(true)
    await page.getByRole('button', { name: 'Remove protection…' }).click()
    await visit.expectNoBarriers()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Remove the protection of staging' }).click()
    await page.getByText('Anyone with write access can deploy').waitFor()

    // It is renamed, described and tagged, too.
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await choose('Rename …')
    await dialog.getByLabel('Name').fill('Dress rehearsal')
    await dialog.getByLabel('Description').fill('What the team tries first.')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('Dress rehearsal', { exact: true }).waitFor()
    await page.getByText('What the team tries first.').waitFor()
    await choose('Tags …')
    await dialog.getByLabel('Tag 1', { exact: true }).fill('region')
    await dialog.getByLabel('Value of tag 1', { exact: true }).fill('eu')
    await dialog.getByRole('button', { name: 'Save the tags' }).click()
    await page.getByText('region').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('environment-named-1440')
    const { environment } = await bench.ask('GET', '/environments/staging')
    expect(environment).to.deep.include({ name: 'Dress rehearsal', tags: { region: 'eu' } })
    await visit.close()
  })

  it('says of one that is none what the server says', async () => {
    const visit = await bench.visit({ path: '/env/prodution' })
    await visit.page.getByRole('alert').waitFor()
    expect(await visit.page.getByRole('alert').textContent()).to.contain('production')
    await visit.close()
  })
})
