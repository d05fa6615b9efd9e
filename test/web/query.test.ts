import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: a saved query', () => {
  let bench: Workbench

  before(async () => {
    bench = await openWorkbench()
    await bench.ask('POST', '/simple/evaluators/', {
      evaluator: {
        slug: 'mentions',
        template: 'auto_regex_test',
        preset: 'contains',
        data: { parameters: { regex_pattern: 'refund' } },
      },
    })
    for (const outputs of ['No.', 'A refund.', 'Never.'])
      await bench.ask('POST', '/services/invoke', {
        references: { evaluator: { slug: 'mentions' } },
        data: { inputs: {}, outputs },
      })
    const condition = { field: 'references', operator: 'has', value: { slug: 'mentions' } }
    const { query } = await bench.ask('POST', '/simple/queries/', {
      query: { slug: 'wrong', name: 'Wrong answers', data: { filtering: { conditions: [condition] } } },
    })
    const failed = { field: 'attributes', key: 'svc.data.outputs.success', value: false }
    await bench.ask('POST', '/queries/revisions/commit', {
      query_revision_commit: {
        query_variant_id: query.variant_id,
        message: 'Only those that are wrong',
        data: { filtering: { operator: 'and', conditions: [condition, failed] } },
      },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('says in words what it asks, shows what it finds now, and leads to the traces', async () => {
    const visit = await bench.visit({ path: '/q/wrong' })
    const { page } = visit
    const asks = page.getByRole('region', { name: 'What it asks' })
    await asks.getByText('All of these').waitFor()
    await asks.getByText('attributes svc.data.outputs.success').waitFor()
    await asks.getByText('has').waitFor()
    const found = page.getByRole('table', { name: 'Matching traces' })
    await found.getByRole('link').first().waitFor()
    expect(await found.getByRole('row').count()).to.equal(3)
    expect(await found.getByRole('link').first().getAttribute('href')).to.match(/^\/trace\/[0-9a-f]{32}$/)
    await visit.expectNoBarriers()
    await visit.picture('query-1440')
    await visit.close()
  })

  it('has versions, each with its own address, compared with the one before', async () => {
    const visit = await bench.visit({ path: '/q/wrong' })
    const { page } = visit
    await page.getByRole('link', { name: 'Versions' }).click()
    await page.getByText('Only those that are wrong').waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Compare with v1' }).click()
    const changes = page.getByRole('dialog', { name: 'Changes from v1 to v2' })
    await changes.getByText('svc.data.outputs.success').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'v1', exact: true }).click()
    const found = page.getByRole('table', { name: 'Matching traces' })
    await found.getByRole('link').nth(2).waitFor()
    expect(page.url()).to.include('version=1')
    await page.goBack()
    await page.getByText('Only those that are wrong').waitFor()
    await visit.close()
  })

  it('shows hostile filters as text, and says where there is nothing', async () => {
    const value = '<script>document.title = "taken"</script>\u202Egnp'
    await bench.ask('POST', '/simple/queries/', {
      query: {
        slug: 'hostile',
        name: '<img src=x onerror=alert(1)>',
        data: {
          formatting: { focus: 'span' },
          filtering: {
            operator: 'or',
            conditions: [
              { field: 'span_name', operator: 'contains', value },
              { operator: 'nor', conditions: [{ field: 'span_id', operator: 'exists' }] },
            ],
          },
        },
      },
    })
    await bench.ask('POST', '/queries/', { query: { slug: 'nothing' } })
    const visit = await bench.visit({ path: '/q/hostile' })
    const { page } = visit
    await page.getByText('<script>document.title').waitFor()
    await page.getByText('None of these').waitFor()
    await page.getByText('No traces match.').waitFor()
    await visit.expectNoBarriers()
    await visit.go('/q/nothing')
    await page.getByText('This one has no version yet').waitFor()
    await visit.expectNoBarriers()
    await visit.go('/q/wron')
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'wrong' }).waitFor()
    await visit.close()
  })

  it('keeps a search of traces as a query, and changes it by another search', async () => {
    const visit = await bench.visit({ path: '/trace?status=ok&since=24h' })
    const { page } = visit
    await page.getByRole('table', { name: 'Traces' }).waitFor()
    await page.keyboard.press('s')
    const dialog = page.getByRole('dialog', { name: 'Save this search' })
    await dialog.getByRole('button', { name: /Give it a name first/ }).waitFor()
    await dialog.getByText('A query does not keep the time.').waitFor()
    await page.keyboard.type('Wrong')
    await page.keyboard.press('Enter')
    await dialog.getByText('“wrong” is taken already.').waitFor()
    await dialog.getByLabel('Name').fill('What went well')
    await dialog.getByLabel('ID').fill('went-well')
    await visit.expectNoBarriers()
    await visit.picture('query-save-1440')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/q/went-well')
    const asks = page.getByRole('region', { name: 'What it asks' })
    await asks.getByText('succeeded').waitFor()
    await page.getByRole('link', { name: 'Change the search' }).click()
    await page.waitForURL('**/trace?status=ok&query=went-well')
    await page.getByLabel('Search text').fill('refund')
    await page.keyboard.press('Enter')
    await page.waitForURL('**text=refund**')
    await page.getByRole('button', { name: 'Save to went-well' }).click()
    await page
      .getByRole('dialog', { name: 'Save to went-well' })
      .getByRole('button', { name: 'Save version' })
      .click()
    await page.waitForURL('**/q/went-well')
    await asks.getByText('refund').waitFor()
    await page.getByRole('link', { name: 'v2' }).waitFor()
    // The search has no field for a verdict.
    await visit.go('/q/wrong')
    await page.getByRole('link', { name: /Change the search.*It has conditions/ }).waitFor()
    await visit.close()
  })

  it('works on a phone', async () => {
    const visit = await bench.visit({ path: '/q/wrong', width: 390, height: 844 })
    await visit.page.getByRole('table').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('query-390')
    expect(await visit.page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0)
    await visit.close()
  })
})
