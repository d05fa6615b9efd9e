import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: the start', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('opens three doors, and its tour ends on a version that is better', async () => {
    const visit = await bench.visit()
    const { page } = visit
    await page.getByRole('heading', { name: 'Default project' }).waitFor()
    await page.getByText('Write, test and release prompts. Every change is kept.').waitFor()
    await page.getByRole('button', { name: 'Write a prompt' }).waitFor()
    await page.getByRole('button', { name: 'Choose a file' }).waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Take the tour' }).click()
    await page.getByRole('button', { name: 'Make the prompt' }).waitFor()
    await visit.expectNoBarriers()
    await visit.picture('tour-1440')
    await page.getByRole('button', { name: 'Make the prompt' }).click()
    await page.getByRole('link', { name: 'Open the prompt' }).waitFor()
    await page.getByRole('button', { name: 'Make the testset' }).click()
    await page.getByRole('link', { name: 'Open the testset' }).waitFor()
    await page.getByRole('button', { name: 'Run the evaluation' }).click()
    await page.getByRole('link', { name: '2 of 3 rows passed' }).waitFor()
    await page.getByRole('button', { name: 'Add Chad, run again' }).click()
    await page.getByRole('link', { name: '3 of 3 rows passed' }).waitFor()
    // What the tour did is no news, and the start page has it in the reader's words.
    expect(await page.getByRole('button', { name: 'show' }).count()).to.equal(0)
    await page.getByText('Compare with the column capital').waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('link', { name: 'Compare the two evaluations' }).click()
    await page.waitForURL('**/eval/*...*')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await visit.close()
  })

  it('shows what there is, what is newest, and what runs where; texts of others stay texts', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'hostile',
        name: '<script>document.title = "taken"</script><img src=x onerror=alert(1)>',
        tags: { team: '\u202Egnp.exe', link: 'javascript:alert(1)' },
        data: { parameters: { text: `![](http://example.org/pixel.png) ${'x'.repeat(100_000)}` } },
      },
    })
    await bench.ask('POST', '/applications/revisions/deploy', {
      application_ref: { slug: 'hostile' },
      environment_ref: { slug: 'production' },
    })
    const visit = await bench.visit()
    const { page } = visit
    await page.getByRole('heading', { name: 'Latest changes' }).waitFor()
    await page.getByText('First revision').first().waitFor()
    await page
      .getByRole('link', { name: /hostile/ })
      .first()
      .waitFor()
    await visit.expectNoBarriers()
    await visit.go('/?kind=applications')
    await page.getByText('<script>').waitFor()
    expect(await page.title()).to.equal('Prompts · Home · Branchpoint')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('searches as one types, also in texts, and says where a word stands', async () => {
    const visit = await bench.visit()
    const { page } = visit
    await page.getByRole('searchbox').fill('oslo')
    const found = page.getByRole('list', { name: 'What was found' })
    await found.getByText('Oslo').first().waitFor()
    expect(await found.textContent()).to.match(/Capitals.*messages/s)
    await page.waitForURL('**/?q=oslo')
    await visit.picture('search-1440')
    await found.getByRole('link', { name: 'Capitals' }).first().click()
    await page.waitForURL('**/a/capitals/r/capitals-2?place=*messages*')
    const marked = page.locator('[aria-current=location]')
    await marked.getByText('Oslo').waitFor()
    // The frame stays where it is.
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).to.equal(0)
    await visit.expectNoBarriers()
    await visit.picture('found-message-1440')
    await page.goBack()
    await page.getByRole('searchbox').fill('xyzzy')
    await page.getByText('No results.').waitFor()
    await visit.close()
  })

  it('lists a family, only what is seen of it, in an order that has an address', async () => {
    const make = (number: number) =>
      bench.ask('POST', '/applications/', {
        application: {
          slug: `bot-${String(number).padStart(3, '0')}`,
          tags: { team: number % 2 ? 'a' : 'b' },
        },
      })
    await Promise.all(Array.from({ length: 449 }, (_, number) => make(number)))
    await make(449)
    const { project } = await bench.ask('GET', '/projects/current')
    const visit = await bench.visit({ path: '/?kind=applications&sort=name' })
    const { page } = visit
    await page.getByText(`${project.counts.applications} prompts`).waitFor()
    expect(await page.locator('[role=region] li').count()).to.be.below(60)
    await page.getByRole('region', { name: 'Prompts' }).focus()
    for (let pressed = 0; pressed < 6; pressed++) await page.keyboard.press('End')
    await page.evaluate(`document.querySelector('[role=region]').scrollTop = 1e9`)
    await page.getByRole('link', { name: 'bot-449' }).waitFor()
    // Another order begins at its top, wherever one was.
    await page.getByLabel('Order').selectOption('-created')
    await page.waitForURL('**sort=-created')
    await page.getByRole('link', { name: 'bot-449' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/a/bot-449')
    await page.getByRole('heading', { name: 'bot-449', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'bot-449' }).waitFor()
    await visit.picture('prompts-1440')
    await visit.close()
  })

  it('does not announce what its own user did', async () => {
    await bench.ask('POST', '/simple/applications/', { application: { slug: 'rivers', data: {} } })
    const visit = await bench.visit({ path: '/a/rivers' })
    const { page } = visit
    await page.getByText('live', { exact: true }).waitFor()
    const heard = page.waitForEvent('console', (message) => message.text() === 'heard rivers')
    // A connection of the test's own says when the event has come.
    await page.evaluate(`{
      const source = new EventSource('/api/events')
      source.addEventListener('artifact', ({ data }) => data.includes('rivers') && console.log('heard rivers'))
    }`)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Archive the prompt …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive rivers' }).click()
    await page.getByText('The prompt rivers is archived').waitFor()
    await heard
    expect(await page.getByRole('button', { name: 'show', exact: true }).count()).to.equal(0)
    await visit.close()
  })

  it('makes a testset from a file that is dropped: errors by line and column, a name that is taken, and then its rows', async () => {
    const visit = await bench.visit({ path: '/?kind=testsets' })
    const { page } = visit
    const place = page.getByRole('region', { name: 'Testsets' })
    await place.waitFor()
    const drop = async (text: string, name: string): Promise<void> => {
      const data = await page.evaluateHandle(`(() => {
        const data = new DataTransfer()
        data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
        return data
      })()`)
      await place.dispatchEvent('dragover', { dataTransfer: data })
      await page.getByText('Drop the file to make a testset from it').waitFor()
      await place.dispatchEvent('drop', { dataTransfer: data })
    }
    await drop('country,capital\nNorway,Oslo\nPeru,"Lima\n', 'Cities of 2026.csv')
    const dialog = page.getByRole('dialog', { name: 'New testset from a file' })
    const slug = dialog.getByLabel('ID')
    expect(await slug.inputValue()).to.equal('cities-of-2026')
    const make = dialog.getByRole('button', { name: 'Make the testset' })
    await make.click()
    await dialog
      .getByRole('alert')
      .getByText(/^Line 3, column \d+:/)
      .waitFor()
    await dialog.getByText('The file was not stored.').waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('Escape')
    await drop('country,capital\nNorway,Oslo\nPeru,Lima\n', 'Cities of 2026.csv')
    await slug.fill('capital-cities')
    await make.click()
    await dialog.getByText(/taken/).waitFor()
    expect(await slug.getAttribute('aria-invalid')).to.equal('true')
    await slug.fill('cities')
    await visit.picture('new-testset-1440')
    await make.click()
    await page.waitForURL('**/t/cities')
    await page.getByRole('gridcell', { name: 'Lima' }).waitFor()
    // The same by a button, for whoever has no file at hand to drop.
    await visit.go('/')
    await page.getByRole('heading', { name: 'Latest changes' }).waitFor()
    await page.keyboard.press('u')
    const chooser = page.waitForEvent('filechooser')
    await dialog.getByRole('button', { name: 'Choose a file', exact: true }).click()
    await (
      await chooser
    ).setFiles({
      name: 'rivers.jsonl',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from('{"river": "Glomma"}\n'),
    })
    await make.click()
    await page.waitForURL('**/t/rivers')
    await page.getByRole('gridcell', { name: 'Glomma' }).waitFor()
    await visit.close()
  })

  it('tells a key that may not write why, and shows it everything else', async () => {
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/?kind=applications', key: key.secret })
    const button = visit.page.getByRole('button', { name: /New prompt/ })
    await button.waitFor()
    expect(await button.getAttribute('aria-disabled')).to.equal('true')
    expect(await button.getAttribute('title')).to.match(/"reader" lacks the scope write/)
    await visit.close()
  })

  it('tells quietly of what somebody else does', async () => {
    const visit = await bench.visit()
    await visit.page.getByText('live').waitFor()
    await bench.ask('POST', '/simple/applications/', { application: { slug: 'from-elsewhere', data: {} } })
    await visit.page.getByText(/^from-elsewhere .* by admin/).waitFor()
    await visit.page.getByRole('button', { name: 'show' }).click()
    await visit.page.getByRole('link', { name: 'from-elsewhere' }).waitFor()
    await visit.close()
  })
})
