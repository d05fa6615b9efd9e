import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { xlsxFile } from '../support/values/xlsx-file.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

/** How many rows the long testset has: a million under `npm run proof -- web`. */
const ROWS = Number(process.env['WEB_ROWS'] ?? 20_000)

describe('workbench: a testset', () => {
  let bench: Workbench

  before(async () => {
    bench = await openWorkbench()
    let csv = 'question,answer,score\n'
    for (let n = 0; n < ROWS; n++) csv += `What is the capital of country ${n}?,City ${n},${n % 100}\n`
    await upload('/simple/testsets/upload', csv, { testset_slug: 'long', testset_name: 'Long' })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  async function upload(path: string, text: string, fields: Record<string, string> = {}): Promise<any> {
    const form = new FormData()
    for (const [name, value] of Object.entries({ ...fields, include_testcases: 'false' }))
      form.append(name, value)
    form.append('include_testcase_ids', 'false')
    form.append('file', new Blob([text], { type: 'text/csv' }), 'rows.csv')
    const response = await fetch(bench.url + path, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${bench.key}` },
      body: form,
    })
    expect(response.status, await response.clone().text()).to.equal(200)
    return response.json()
  }

  const grid = (page: Page): Locator => page.getByRole('grid')
  const cell = (page: Page, text: string): Locator =>
    grid(page).getByRole('gridcell', { name: text, exact: true })
  /** What the cell with the focus holds, as somebody listening is told. */
  const active = async (page: Page): Promise<string> => {
    const id = await grid(page).getAttribute('aria-activedescendant')
    return (await page.locator(`[id="${id}"]`).textContent()) ?? ''
  }

  it('is a grid of which only what is seen is there, with a bar that is true', async () => {
    const visit = await bench.visit({ path: '/t/long' })
    const { page } = visit
    await cell(page, 'City 0').waitFor()
    // The header, the rows, and the empty row in which one more is typed.
    expect(await grid(page).getAttribute('aria-rowcount')).to.equal(String(ROWS + 2))
    expect(await page.getByRole('row').count()).to.be.lessThan(60)
    await page.getByText(`${ROWS.toLocaleString('en-US')} rows`).waitFor()
    await grid(page).evaluate((it: any) => void (it.scrollTop = (it.scrollHeight - it.clientHeight) / 2))
    await cell(page, `City ${ROWS / 2}`).waitFor()
    await grid(page).evaluate((it: any) => void (it.scrollTop = it.scrollHeight))
    await cell(page, `City ${ROWS - 1}`).waitFor()
    const last = grid(page).getByRole('row').last()
    expect(await last.getAttribute('aria-rowindex')).to.equal(String(ROWS + 2))
    await grid(page).evaluate((it: any) => void (it.scrollTop = 0))
    await visit.expectNoBarriers()
    await visit.picture('testset-1440')
    await visit.close()
  })

  it('stays where it was scrolled to, if the end of the scroll before is noticed late', async () => {
    const visit = await bench.visit({ path: '/t/long' })
    const { page } = visit
    await cell(page, 'City 0').waitFor()
    await page.clock.install()
    // Both timers run in one task, so the event of the second scroll comes after both.
    await grid(page).evaluate(async (it: any) => {
      it.scrollTop = (it.scrollHeight - it.clientHeight) / 2
      await new Promise((scrolled) => it.addEventListener('scroll', scrolled, { once: true }))
      setTimeout(() => void (it.scrollTop = it.scrollHeight), 199)
    })
    await page.clock.runFor(300)
    await page.clock.resume()
    await cell(page, `City ${ROWS - 1}`).waitFor()
    await visit.close()
  })

  it('is used with keys alone: arrows, pages, ends, rows by number, and Enter', async () => {
    const visit = await bench.visit({ path: '/t/long' })
    const { page } = visit
    const { keyboard } = page
    await cell(page, 'City 0').waitFor()
    await grid(page).focus()
    await keyboard.press('ArrowRight')
    await keyboard.press('ArrowRight')
    expect(await active(page)).to.equal('City 0')
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    expect(await active(page)).to.equal('City 2')
    await keyboard.press('ArrowUp')
    expect(await active(page)).to.equal('City 1')
    await keyboard.press('PageDown')
    expect(Number((await active(page)).slice(5))).to.be.within(10, 60)
    await keyboard.press('PageUp')
    expect(await active(page)).to.equal('City 1')
    await keyboard.press('End')
    expect(await active(page)).to.equal('1')
    await keyboard.press('Control+End')
    await cell(page, `City ${ROWS - 1}`).waitFor()
    await keyboard.press('ArrowLeft')
    expect(await active(page)).to.equal(`City ${ROWS - 1}`)
    await keyboard.press('ArrowDown')
    await page.getByText(`new, after ${ROWS.toLocaleString('en-US')}`).waitFor()
    await keyboard.press('Control+Home')
    await cell(page, 'City 0').waitFor()
    await keyboard.press('Control+g')
    await keyboard.type('12345')
    await keyboard.press('Enter')
    await cell(page, 'City 12344').waitFor()
    await page.waitForURL(/at=12345/)
    await grid(page).focus()
    await keyboard.press('ArrowRight')
    await keyboard.press('ArrowRight')
    await page.waitForURL(/column=answer/)
    await keyboard.press('Shift+Enter')
    const dialog = page.getByRole('dialog', { name: 'answer of row 12,345' })
    await dialog.getByRole('textbox', { name: 'Text' }).waitFor()
    expect(await dialog.getByRole('textbox', { name: 'Text' }).inputValue()).to.equal('City 12344')
    await page.waitForURL(/open=1/)
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await active(page)).to.equal('City 12344')
    await keyboard.press('Control+g')
    await keyboard.type(String(ROWS + 1))
    expect(await page.getByRole('textbox', { name: 'Row' }).getAttribute('aria-invalid')).to.equal('true')
    await visit.close()
  })

  it('keeps where one is in its address, and the widths of columns in the browser', async () => {
    const visit = await bench.visit({ path: '/t/long?at=9999&column=answer' })
    const { page } = visit
    await cell(page, 'City 9998').waitFor()
    expect(await active(page)).to.equal('City 9998')
    const header = grid(page).getByRole('columnheader', { name: 'answer' })
    const before = (await header.boundingBox())?.width ?? 0
    await grid(page).focus()
    await page.keyboard.press('Control+>')
    await page.keyboard.press('Control+>')
    const box = await header.boundingBox()
    expect(box?.width).to.equal(before + 64)
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 4, (box?.y ?? 0) + 10)
    await page.mouse.down()
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) + 46, (box?.y ?? 0) + 10)
    await page.mouse.up()
    await page.reload()
    await cell(page, 'City 9998').waitFor()
    expect((await header.boundingBox())?.width).to.equal(before + 114)
    await visit.close()
  })

  it('shows how a row came to be what it is, cell by cell', async () => {
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'history',
        data: {
          testcases: [
            { data: { testcase_dedup_id: 'norway', country: 'Norway', capital: 'Kristiania' } },
            { data: { testcase_dedup_id: 'peru', country: 'Peru', capital: 'Lima' } },
          ],
        },
      },
    })
    const csv =
      'country,capital,__dedup_id__,__tags__\nNorway,Oslo,norway,"{""checked"":true}"\nPeru,Lima,peru,\n'
    await upload('/simple/testsets/history/upload', csv)
    const visit = await bench.visit({ path: '/t/history' })
    const { page } = visit
    await cell(page, 'norway').click()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'History of the row' })
    await panel.getByText('before: Kristiania').waitFor()
    await panel.getByText('after: Oslo').waitFor()
    await panel.getByText('checked').waitFor()
    await panel.getByText('added').waitFor()
    expect(page.url()).to.include('row=norway')
    await visit.expectNoBarriers()
    await visit.picture('testset-row-1440')
    await page.goBack()
    await panel.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Versions' }).click()
    await page.getByRole('link', { name: 'Compare with v1' }).waitFor()
    expect(await page.getByRole('link', { name: 'Compare with v1' }).getAttribute('href')).to.equal(
      '/t/history/compare/r:history-1...r:history-2',
    )
    await visit.expectNoBarriers()
    await page.getByRole('link', { name: 'v1', exact: true }).click()
    await cell(page, 'Kristiania').waitFor()
    expect(page.url()).to.include('/t/history/v/history/1')
    await visit.close()
  })

  it('takes a file, shows how far it is, and says what it changed; what is refused is said by line and column', async () => {
    await upload('/simple/testsets/upload', 'n,word\n1,one\n2,two\n3,three\n', { testset_slug: 'uploads' })
    const visit = await bench.visit({ path: '/t/uploads', expected: /ERR_CONNECTION_RESET/ })
    const { page } = visit
    await page.getByRole('button', { name: 'Upload to uploads' }).click()
    const dialog = page.getByRole('dialog')
    const bad = join(bench.storeDir, 'bad.csv')
    writeFileSync(bad, 'n,word\n1,one\n2,"two\n')
    await choose(page, bad)
    await dialog.getByRole('button', { name: 'Upload to uploads' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/^Line 3, column \d+:/)
      .waitFor()
    await dialog.getByText('The file was not stored.').waitFor()
    await visit.expectNoBarriers()
    const good = join(bench.storeDir, 'good.csv')
    writeFileSync(good, 'n,word\n1,one\n2,zwei\n4,four\n')
    await choose(page, good)
    // Nothing has gone out yet: nothing can be stored.
    await page.route('**/upload', (route) => route.abort('connectionreset'), { times: 1 })
    await dialog.getByRole('button', { name: 'Upload to uploads' }).click()
    await dialog.getByText('The server does not answer').waitFor()
    await dialog.getByText('The file was not stored.').waitFor()
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.getByRole('status').getByText('v2').waitFor()
    await dialog.getByText('2 added, 2 removed').waitFor()
    await visit.picture('testset-upload-1440')
    await dialog.getByRole('button', { name: 'Show the rows' }).click()
    await cell(page, 'zwei').waitFor()
    expect(await versionsOf('uploads')).to.equal(2)
    await visit.close()
  })

  it('says how a file is read, and what became of rows and names that are not as they stand in it', async () => {
    await upload('/simple/testsets/upload', 'n,word\n1,one\n', { testset_slug: 'people' })
    const visit = await bench.visit({ path: '/t/people' })
    const { page } = visit
    await page.getByRole('button', { name: 'Upload to people' }).click()
    const dialog = page.getByRole('dialog')
    const file = join(bench.storeDir, 'people.tsv.gz')
    writeFileSync(file, gzipSync('n^ word\n1^one\n1^one\n2^two\n'))
    await choose(page, file)
    expect(await dialog.getByLabel('The file is').inputValue()).to.equal('csv')
    expect(await dialog.getByLabel('Cells are separated by').inputValue()).to.equal('')
    await dialog.getByRole('button', { name: 'Upload to people' }).click()
    // One column, which nothing in the header contradicts, and two of its rows are equal.
    await dialog.getByText('1 equal rows collapsed into one each').waitFor()
    await dialog.getByRole('button', { name: 'Show the rows' }).click()
    await page.getByRole('button', { name: 'Upload to people' }).click()
    const sheet = join(bench.storeDir, 'people.xlsx')
    const row = (at: number, ...values: readonly string[]): string =>
      `<row r="${at}">${values.map((value, column) => `<c r="${'AB'[column]}${at}" t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`).join('')}</row>`
    writeFileSync(
      sheet,
      xlsxFile({
        sheets: [
          ['Notes', row(1, 'a')],
          ['People', row(1, 'n', 'word ') + row(2, '1', 'eins') + row(3, '2', 'zwei')],
        ],
      }),
    )
    await choose(page, sheet)
    expect(await dialog.getByLabel('The file is').inputValue()).to.equal('xlsx')
    await dialog.getByLabel('Sheet').fill('People')
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Upload to people' }).click()
    await dialog.getByText('Column "word " is called word').waitFor()
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Show the rows' }).click()
    await cell(page, 'zwei').waitFor()
    await page.getByRole('button', { name: 'Upload to people' }).click()
    const empty = join(bench.storeDir, 'empty.csv')
    writeFileSync(empty, '\n')
    await choose(page, empty)
    await dialog.getByRole('button', { name: 'Upload to people' }).click()
    await dialog.getByRole('alert').getByText('allow_empty').waitFor()
    await dialog.getByLabel('A file without rows is').selectOption('meant')
    await dialog.getByRole('button', { name: 'Upload to people' }).click()
    await dialog.getByText('2 removed').waitFor()
    await visit.close()
  })

  it('uploads to the variant that it shows, also where another variant has the same revision', async () => {
    await upload('/simple/testsets/upload', 'n,word\n1,one\n', { testset_slug: 'shared' })
    await bench.ask('POST', '/variants/fork', {
      testset_variant: { slug: 'shared-try' },
      testset_variant_ref: { slug: 'shared' },
    })
    const visit = await bench.visit({ path: '/t/shared/v/shared-try' })
    const { page } = visit
    await page.getByRole('button', { name: 'Upload to shared-try' }).click()
    const file = join(bench.storeDir, 'try.csv')
    writeFileSync(file, 'n,word\n1,eins\n')
    await choose(page, file)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Upload to shared-try' }).click()
    await dialog.getByRole('status').getByText('is the newest version of shared-try').waitFor()
    expect(await versionsOf('shared')).to.equal(1)
    await dialog.getByRole('button', { name: 'Show the rows' }).click()
    await cell(page, 'eins').waitFor()
    await visit.close()
  })

  it('says that it does not know where the answer to an upload is lost, and stores it once however often it is sent', async () => {
    await upload('/simple/testsets/upload', 'n,word\n1,one\n', { testset_slug: 'lost' })
    const proxy = await startCuttingProxy(bench.url)
    try {
      const visit = await bench.visit({
        ...{ path: '/t/lost', through: proxy.url, expected: /ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/ },
      })
      const { page } = visit
      await page.getByRole('button', { name: 'Upload to lost' }).click()
      const file = join(bench.storeDir, 'lost.csv')
      writeFileSync(file, 'n,word\n1,one\n2,two\n')
      await choose(page, file)
      const dialog = page.getByRole('dialog')
      const lost = proxy.loseAnswersOf('/upload')
      await dialog.getByRole('button', { name: 'Upload to lost' }).click()
      await lost
      await dialog.getByText('whether it is stored is not known').waitFor()
      expect(await dialog.getByText('The file was not stored').count()).to.equal(0)
      expect(await versionsOf('lost'), 'the server has it').to.equal(2)
      await visit.expectNoBarriers()
      await visit.picture('testset-upload-lost-1440')
      const looking = visit.context.waitForEvent('page')
      await dialog.getByRole('link', { name: 'See the versions of lost' }).click()
      const other = await looking
      await other.getByRole('link', { name: 'v2', exact: true }).waitFor()
      await other.close()
      // Lost once more, then not.
      const again = proxy.loseAnswersOf('/upload')
      await dialog.getByRole('button', { name: 'Try again' }).click()
      await again
      await dialog.getByText('whether it is stored is not known').waitFor()
      proxy.loseNone()
      await dialog.getByRole('button', { name: 'Try again' }).click()
      await dialog.getByRole('status').getByText('v2').waitFor()
      expect(await versionsOf('lost'), 'it is stored once').to.equal(2)
      await visit.close()
    } finally {
      await proxy.close()
    }
  })

  async function versionsOf(slug: string): Promise<number> {
    const { testset_revisions } = await bench.ask('POST', '/testsets/revisions/log', {
      testset_variant_ref: { slug },
    })
    return testset_revisions.length
  }

  it('is led to a row by its id alone, however far down it stands, and marks it; a row that is gone is said', async () => {
    const at = ROWS - 7
    const { testset_revision } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'long' },
      windowing: { offset: at, limit: 1 },
    })
    const dedupId: string = testset_revision.data.testcases[0].data.testcase_dedup_id
    const visit = await bench.visit({ path: `/t/long?row=${dedupId}&column=answer` })
    const { page } = visit
    await cell(page, `City ${at}`).waitFor()
    const marked = grid(page).locator('[aria-current]')
    expect(await marked.getAttribute('aria-rowindex')).to.equal(String(at + 2))
    expect(await active(page)).to.equal(`City ${at}`)
    await page.waitForURL(new RegExp(`at=${at + 1}`))
    await page.getByRole('complementary', { name: 'History of the row' }).getByText('added').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('testset-found-1440')
    // It stays marked while one looks elsewhere, and the address stays true.
    await grid(page).focus()
    await page.keyboard.press('ArrowUp')
    expect(await marked.getAttribute('aria-rowindex')).to.equal(String(at + 2))
    await visit.go('/t/long?row=nobody')
    await page.getByRole('alert').getByText('no row with the dedup id "nobody"').waitFor()
    await cell(page, 'City 0').waitFor()
    await visit.close()
  })

  it('goes to another variant, version, testset or family by a menu beside each part of where one is, by keys too', async () => {
    await bench.ask('POST', '/variants/fork', {
      testset_variant: { slug: 'history-odd' },
      testset_variant_ref: { slug: 'history' },
    })
    const visit = await bench.visit({ path: '/t/history/v/history/1' })
    const { page } = visit
    await cell(page, 'Kristiania').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    const menu = page.getByRole('menu', { name: 'Go to another version' })
    await menu.getByRole('menuitem', { name: /^v2/ }).waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.type('v2')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/t/history/v/history/2')
    await page.getByRole('button', { name: 'Go to another variant' }).click()
    await page.getByRole('menuitem', { name: 'history-odd' }).click()
    await page.waitForURL('**/t/history/v/history-odd')
    // The keys are the page's, which is another one from here on.
    await page.getByRole('navigation').getByText('history-odd').first().waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('menuitem', { name: /^long/ }).click()
    await page.waitForURL('**/t/long')
    await page.getByRole('heading', { level: 1, name: 'long' }).waitFor()
    await page.getByRole('grid').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.getByRole('menuitem', { name: 'Prompts' }).click()
    await page.waitForURL('**/?kind=applications')
    await visit.close()
  })

  /** Chooses a file in the dialog. */
  async function choose(page: Page, path: string): Promise<void> {
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: /^Choose a/ }).click()
    await (await chooser).setFiles(path)
  }

  it('takes a file that is dropped on it, also where there are no rows yet', async () => {
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'fresh' } })
    const visit = await bench.visit({ path: '/t/fresh' })
    const { page } = visit
    await page.getByText('has no rows yet').waitFor()
    await visit.expectNoBarriers()
    const file = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['{"word": "one", "n": 1}\\n{"word": "two"}\\n'], 'rows.jsonl'))
      return data
    })()`)
    const place = page.getByText('has no rows yet')
    await place.dispatchEvent('dragover', { dataTransfer: file })
    await page.getByText('Drop a file to make the first version').waitFor()
    await place.dispatchEvent('drop', { dataTransfer: file })
    const dialog = page.getByRole('dialog', { name: 'Upload to fresh' })
    expect(await dialog.getByLabel('The file is').inputValue()).to.equal('jsonl')
    await dialog.getByRole('button', { name: 'Upload to fresh' }).click()
    await dialog.getByText('version 1').waitFor()
    await dialog.getByRole('button', { name: 'Show the rows' }).click()
    await cell(page, 'two').waitFor()
    await visit.close()
  })

  it('stays as it is while somebody looks, and says so when another commits', async () => {
    await upload('/simple/testsets/upload', 'word\nold\n', { testset_slug: 'live' })
    const visit = await bench.visit({ path: '/t/live' })
    const { page } = visit
    await cell(page, 'old').waitFor()
    await page.getByText('live', { exact: true }).last().waitFor()
    await upload('/simple/testsets/live/upload', 'word\nnew\n')
    await page.getByRole('status').getByText('v2 by admin').waitFor()
    await cell(page, 'old').waitFor()
    await page.getByRole('button', { name: 'show', exact: true }).click()
    await cell(page, 'new').waitFor()
    await visit.close()
  })

  it('shows hostile contents as text, and stays quick with ten thousand columns, long lines and deep values', async () => {
    const deep = `${'['.repeat(100)}1${']'.repeat(100)}`
    const row = {
      html: '<script>document.title = "taken"</script><img src=x onerror=alert(1)>',
      link: 'javascript:alert(1)',
      bidi: '\u202Egnp.exe',
      long: 'x'.repeat(1_000_000),
      deep: JSON.parse(deep) as unknown,
    }
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'hostile', name: '<b>bold</b>', data: { testcases: [{ data: row }] } },
    })
    const odd = '{"big": 12345678901234567890, "__proto__": "a column", "7": "seven", "": "nameless"}\n'
    await upload('/simple/testsets/upload', odd, { testset_slug: 'odd', file_type: 'jsonl' })
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`column ${n}`, `${n}`]))
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'wide',
        data: {
          testcases: Array.from({ length: 8 }, (_, n) => ({ data: { ...many, 'column 0': `${n}` } })),
        },
      },
    })
    const visit = await bench.visit({ path: '/t/hostile?at=1&column=html' })
    const { page } = visit
    await cell(page, row.html).waitFor()
    await cell(page, row.link).waitFor()
    expect(await page.title()).to.match(/^hostile · <b>bold<\/b>/)
    await page.goto(`${bench.url}/t/hostile?at=1&column=long&open=1`)
    await page.getByText('1,000,000 characters, 1 line').waitFor()
    await page.goto(`${bench.url}/t/hostile?at=1&column=deep&open=1`)
    await page.getByRole('dialog', { name: 'deep of row 1' }).waitFor()
    await visit.expectNoBarriers()
    await page.goto(`${bench.url}/t/odd`)
    for (const text of ['12345678901234567890', 'a column', 'seven', 'nameless'])
      await cell(page, text).waitFor()
    const names = await grid(page).getByRole('columnheader').allTextContents()
    expect(names.slice(2)).to.deep.equal(['big', '__proto__', '7', 'no name'])
    await page.goto(`${bench.url}/t/wide`)
    await cell(page, '3').first().waitFor()
    expect(await page.getByRole('gridcell').count()).to.be.lessThan(600)
    await grid(page).focus()
    await page.keyboard.press('End')
    await grid(page).getByRole('columnheader', { name: 'column 9999', exact: true }).waitFor()
    expect(await grid(page).getAttribute('aria-colcount')).to.equal('10002')
    await visit.close()
  })

  it('lets the search find rows, said with its cost; a key that may not write is told so', async () => {
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const reader = await bench.visit({ path: '/t/long?view=about', key: key.secret })
    const toggle = (page: Page): Locator => page.getByRole('switch', { name: 'Search finds the rows' })
    await toggle(reader.page).waitFor()
    expect(await toggle(reader.page).getAttribute('aria-disabled')).to.equal('true')
    await toggle(reader.page).click({ force: true })
    await reader.page.getByText('lacks the scope write').first().waitFor()
    expect(
      await reader.page.getByRole('button', { name: /^Upload to long/ }).getAttribute('aria-disabled'),
    ).to.equal('true')
    await reader.expectNoBarriers()
    await reader.close()
    const visit = await bench.visit({ path: '/t/history?view=about' })
    await toggle(visit.page).click()
    await visit.page.locator('[role=switch][aria-checked=true]').waitFor()
    await visit.expectNoBarriers()
    const { testset } = await bench.ask('GET', '/testsets/history')
    expect(testset.flags.search).to.equal(true)
    await visit.close()
  })

  it('is downloaded as a file', async () => {
    const visit = await bench.visit({ path: '/t/history?at=1&column=capital' })
    const { page } = visit
    await cell(page, 'Oslo').waitFor()
    await page.getByRole('button', { name: 'Download' }).click()
    const arriving = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'As CSV' }).click()
    const download = await arriving
    expect(download.suggestedFilename()).to.equal('history-v2.csv')
    // Cells that a spreadsheet would run are escaped.
    expect(new URL(download.url()).searchParams.get('escape_formulas')).to.equal('true')
    await visit.close()
  })

  it('says what is not there, with what is near', async () => {
    const visit = await bench.visit({ path: '/t/lon' })
    await visit.page.getByRole('alert').waitFor()
    expect(await visit.page.getByRole('alert').textContent()).to.include('lon')
    await visit.go('/t/long/v/long/99')
    await visit.page.getByRole('alert').getByText(/99/).waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('works on a phone', async () => {
    const visit = await bench.visit({ path: '/t/long', width: 390, height: 844 })
    const { page } = visit
    await cell(page, 'What is the capital of country 3?').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('testset-390')
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).to.equal(0)
    await visit.close()
  })
})
