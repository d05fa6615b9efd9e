import { expect } from 'chai'
import type { Locator, Page, Request } from 'playwright-core'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Answer, type Workbench } from './support/workbench.ts'

/** Merged cells, as Excel writes them. */
const EXCEL = `<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><style><!--br {mso-data-placement:same-cell;} .xl65 {white-space:normal;}--></style></head>
<body><table border=0 cellpadding=0 style='border-collapse:collapse;width:144pt'><!--StartFragment-->
 <col width=64 span=3 style='mso-width-source:userset;width:48pt'>
 <tr height=20><td rowspan=3 height=60 class=xl65 width=64>Europe</td><td width=64></td><td class=xl65>north</td></tr>
 <tr height=20><td height=20>Oslo<span style='mso-spacerun:yes'>&nbsp; </span>N</td><td x:num>1<br>
    2</td></tr>
 <tr height=20><td colspan=2 height=20 class=xl66>Bergen&nbsp;</td></tr>
<!--EndFragment--></table></body></html>`

describe('workbench: rows edited in the grid', () => {
  let bench: Workbench

  before(async () => {
    bench = await openWorkbench()
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  const grid = (page: Page): Locator => page.getByRole('grid')
  const cell = (page: Page, text: string): Locator =>
    grid(page).getByRole('gridcell', { name: text, exact: true })
  const bar = (page: Page): Locator => page.getByRole('group', { name: 'Changes of the rows' })
  const told = (page: Page, text: string): Promise<void> =>
    bar(page).getByRole('status').getByText(text).waitFor()

  /** The rows that are shown, each as the texts of its cells without the number, the Row ID and the row to type in. */
  const shown = async (page: Page): Promise<readonly string[]> => {
    const rows = await grid(page)
      .getByRole('row')
      .filter({ has: page.getByRole('gridcell') })
      .all()
    const texts = await Promise.all(rows.map((row) => row.getByRole('gridcell').allTextContents()))
    return texts.slice(0, -1).map((cells) => cells.slice(1).join())
  }

  /** Makes a testset with these rows. */
  async function seed(slug: string, rows: readonly object[]): Promise<void> {
    const testcases = rows.map((data, at) => ({ data: { testcase_dedup_id: `row-${at}`, ...data } }))
    await bench.ask('POST', '/simple/testsets/', { testset: { slug, data: { testcases } } })
  }

  /** The newest rows, without their ids. */
  async function rowsOf(slug: string): Promise<readonly Answer[]> {
    const { testset_revision } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug },
    })
    return testset_revision.data.testcases.map(({ data }: Answer) => {
      const { testcase_dedup_id: _id, ...values } = data
      return values
    })
  }

  async function versionsOf(slug: string): Promise<number> {
    const { testset_revisions } = await bench.ask('POST', '/testsets/revisions/log', {
      testset_variant_ref: { slug },
    })
    return testset_revisions.length
  }

  /** Puts something into the clipboard as a spreadsheet or a page does, and pastes it with the keys. */
  async function paste(page: Page, plain: string, html?: string): Promise<void> {
    await page.evaluate(
      async ([text, markup]) => {
        const parts: Record<string, Blob> = { 'text/plain': new Blob([text ?? ''], { type: 'text/plain' }) }
        if (markup !== undefined) parts['text/html'] = new Blob([markup], { type: 'text/html' })
        await (globalThis as any).navigator.clipboard.write([new (globalThis as any).ClipboardItem(parts)])
      },
      [plain, html] as const,
    )
    await page.keyboard.press('Control+v')
  }

  async function save(page: Page): Promise<void> {
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog', { name: /^Save version/ }).waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await told(page, 'No changes')
  }

  it('changes cells with keys as a spreadsheet does, undoes and redoes, keeps the draft over a reload, and saves one version', async () => {
    await seed('capitals', [
      { country: 'Norway', capital: 'Oslo', n: 1, big: 1, ok: true },
      { country: 'Peru', capital: 'Lima', n: 2, big: 2, ok: false },
      { country: 'Chad', capital: 'N’Djamena', n: 3, big: 3, ok: true },
    ])
    const visit = await bench.visit({ path: '/t/capitals' })
    const { page } = visit
    const { keyboard } = page
    await cell(page, 'Oslo').click()
    await keyboard.type('Bergen')
    await keyboard.press('Enter')
    await cell(page, 'Bergen').waitFor()
    await told(page, '1 changed')
    await keyboard.press('F2')
    await keyboard.type(' city')
    await keyboard.press('Tab')
    await cell(page, 'Lima city').waitFor()
    await keyboard.type('12345678901234567890')
    await keyboard.press('Enter')
    // Enter goes back to where the row began.
    await keyboard.press('F2')
    await keyboard.type('!')
    await keyboard.press('Escape')
    expect(await cell(page, 'N’Djamena').count()).to.equal(1)
    await keyboard.press('ArrowRight')
    await keyboard.press('Delete')
    await told(page, '3 changed')
    await keyboard.press('Control+z')
    await told(page, '2 changed')
    await keyboard.press('Control+Shift+z')
    await told(page, '3 changed')
    await visit.expectNoBarriers()
    await page.reload()
    await cell(page, 'Bergen').waitFor()
    await told(page, '3 changed')
    await page.getByRole('button', { name: 'Review' }).click()
    const review = page.getByRole('dialog', { name: 'Changes to save' })
    await review.getByText('3 rows changed').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('testset-edit-1440')
    await review.getByRole('button', { name: 'Save version' }).click()
    await page
      .getByRole('dialog', { name: 'Save version of capitals' })
      .getByRole('textbox')
      .fill('Three cells')
    await keyboard.press('Control+Enter')
    await told(page, 'No changes')
    await cell(page, 'Bergen').waitFor()
    const { testset_revision: saved } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'capitals' },
    })
    expect(saved.message).to.equal('Three cells')
    expect(saved.version).to.equal(2)
    const text = await (
      await fetch(`${bench.url}/testsets/revisions/${saved.id}/download?file_type=jsonl`, {
        headers: { Authorization: `ApiKey ${bench.key}` },
      })
    ).text()
    expect(text).to.include('"n":12345678901234567890')
    const [norway, peru, chad] = await rowsOf('capitals')
    expect(norway).to.include({ capital: 'Bergen', n: 1 })
    expect(peru).to.include({ capital: 'Lima city' })
    expect(chad).to.include({ capital: 'N’Djamena' }).and.not.to.have.property('n')
    // The next edit begins at the version that was saved.
    await cell(page, 'Bergen').click()
    await keyboard.type('Oslo')
    await keyboard.press('Enter')
    await told(page, '1 changed')
    await bar(page).getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await cell(page, 'Bergen').waitFor()
    await told(page, 'No changes')
    await visit.close()
  })

  it('is typed from nothing: columns with types, rows with Tab and Enter', async () => {
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'cities', name: 'Cities' } })
    const visit = await bench.visit({ path: '/t/cities' })
    const { page } = visit
    const { keyboard } = page
    await page.getByRole('button', { name: 'Type rows' }).click()
    await page.getByText('Rows need columns first').waitFor()
    await visit.expectNoBarriers()
    await page.getByRole('button', { name: 'Add the first column' }).click()
    // The name is typed at once; a space in it presses no button.
    await page.getByRole('dialog', { name: 'Add a column' }).waitFor()
    await keyboard.type('the city')
    await keyboard.press('Enter')
    await grid(page).getByRole('columnheader', { name: 'the city' }).waitFor()
    await keyboard.press('Control+z')
    for (const [name, type] of [
      ['city', 'text'],
      ['people', 'number'],
      ['coastal', 'boolean'],
      ['where', 'json'],
    ] as const) {
      await page.getByRole('button', { name: 'Column', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Add a column' }).click()
      const dialog = page.getByRole('dialog', { name: 'Add a column' })
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByLabel('Type').selectOption(type)
      await keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
    }
    await grid(page).focus()
    await keyboard.press('Home')
    await keyboard.press('ArrowRight')
    // Tab behind the last column goes on in the next row, as Enter does.
    for (const [row, end] of [
      [['Tokyo', '37000000', 'TRUE', '{"lat": 35.7}'], 'Tab'],
      [['[not JSON]', '22', 'false', 'null'], 'Enter'],
    ] as const)
      for (const [at, text] of row.entries()) {
        await keyboard.type(text)
        await keyboard.press(at === 3 ? end : 'Tab')
      }
    await told(page, '2 added')
    await keyboard.type('Lagos')
    await keyboard.press('Tab')
    await keyboard.type('many')
    await keyboard.press('Enter')
    await told(page, '“many” is no number: it is kept as text.')
    await visit.expectNoBarriers()
    // A value of JSON is edited in an editor of its own.
    await keyboard.press('Control+Home')
    await keyboard.press('End')
    await keyboard.press('Shift+Enter')
    const editor = page.getByRole('dialog', { name: 'where of row 1' })
    const json = editor.getByRole('textbox', { name: 'Value as JSON' })
    await json.fill('{"lat": 35.7, "lon"')
    await editor.getByRole('alert').getByText('This is not JSON yet:').waitFor()
    expect(await json.getAttribute('aria-invalid')).to.equal('true')
    await keyboard.press('Control+Enter')
    expect(await json.count(), 'what is no JSON is not taken').to.equal(1)
    await visit.expectNoBarriers()
    await json.fill('{"lat": 35.7, "lon": 139.7}')
    await editor.getByRole('alert').waitFor({ state: 'detached' })
    await keyboard.press('Control+Enter')
    await editor.waitFor({ state: 'detached' })
    await cell(page, '{"lat": 35.7, "lon": 139.7}').waitFor()
    // Another type leaves the cells as they are; it is for what is typed from then on. Enter begins to change a cell.
    await cell(page, 'Lagos').click()
    await page.getByRole('button', { name: 'Column', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Rename or change the type' }).click()
    const typed = page.getByRole('dialog', { name: 'Column city' })
    await typed.getByText('Cells that are there stay as they are').waitFor()
    await typed.getByLabel('Type').selectOption('number')
    await typed.getByRole('button', { name: 'Change column' }).click()
    await typed.waitFor({ state: 'detached' })
    await page.locator('[role=grid]:focus').waitFor()
    await keyboard.press('Enter')
    await keyboard.type('!')
    await keyboard.press('Enter')
    await told(page, '“Lagos!” is no number: it is kept as text.')
    await keyboard.type('4')
    await keyboard.press('Enter')
    await save(page)
    expect(await rowsOf('cities')).to.deep.equal([
      { city: 'Tokyo', people: 37000000, coastal: true, where: { lat: 35.7, lon: 139.7 } },
      { city: '[not JSON]', people: 22, coastal: false, where: null },
      { city: 'Lagos!', people: 'many' },
      { city: 4 },
    ])
    await cell(page, 'Lagos!').waitFor()
    await visit.close()
  })

  it('leaves no draft of rows typed from nothing whose first version is shown before the page is up to date', async () => {
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'first' } })
    const visit = await bench.visit({ path: '/t/first' })
    const { page } = visit
    await page.getByRole('button', { name: 'Type rows' }).click()
    await page.getByRole('button', { name: 'Add the first column' }).click()
    await page.getByRole('dialog', { name: 'Add a column' }).waitFor()
    await page.keyboard.type('word')
    await page.keyboard.press('Enter')
    await grid(page).getByRole('columnheader', { name: 'word' }).waitFor()
    await page.keyboard.type('a')
    await page.keyboard.press('Enter')
    await told(page, '1 added, 1 column changed')
    // The save waits for everything that the page shows: here for the counts of its places, which come later than the new version.
    await page.route('**/projects/current', async (route) => {
      await page.getByText('1 row', { exact: true }).waitFor()
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    await save(page)
    await told(page, 'No changes')
    expect(await rowsOf('first')).to.deep.equal([{ word: 'a' }])
    await visit.close()
  })

  it('takes what a spreadsheet or a page has in the clipboard, shows large pastes first, and gives the same back', async () => {
    await seed('pasted', [
      { a: 'one', b: '1' },
      { a: 'two', b: '2' },
    ])
    const visit = await bench.visit({
      path: '/t/pasted',
      // A browser says so of styles in a clipboard, which nothing here may apply.
      expected: /^Applying inline style violates/,
    })
    const { page } = visit
    const { keyboard } = page
    const keys = await keysOf(page)
    await cell(page, 'two').waitFor()
    await keys.tabTo(grid(page))
    for (const key of ['ArrowDown', 'ArrowRight']) await keyboard.press(key)
    // Rows and columns that are missing are added; formulas and what looks like JSON stay texts.
    await paste(page, '=SUM(A1:A9)\t{"x": 1}\tnew\r\n"two\nlines, ""quoted"""\t007\tnew\r\n')
    await told(page, '1 changed, 1 added, 1 column changed')
    await keyboard.press('Control+c')
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(
      '=SUM(A1:A9)\t{"x": 1}\tnew\n"two\nlines, ""quoted"""\t007\tnew',
    )
    // A table of a page, of which the text says nothing about cells.
    for (const key of ['Control+Home', 'ArrowRight']) await keyboard.press(key)
    await paste(
      page,
      'uno dos',
      '<meta charset=utf-8><table><tr><th>uno<br>dos</th><td onclick="x()"><script>document.title="taken"</script> tres </td></tr></table>',
    )
    await cell(page, 'uno ⏎ dos').waitFor()
    await told(page, '2 changed, 1 added')
    expect(await page.title()).not.to.equal('taken')
    // Filled down: the first selected row goes into those below it, by the key and by the palette.
    await keyboard.press('Control+Shift+End')
    await keyboard.press('Control+d')
    await cell(page, 'tres').nth(2).waitFor()
    const filled = 'uno ⏎ dos,tres,'
    expect(await shown(page)).to.deep.equal([filled, filled, filled])
    await keyboard.press('Control+z')
    await cell(page, '007').waitFor()
    const before = await shown(page)
    await keyboard.press('Control+Home')
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await keyboard.press(key)
    await keyboard.press('Control+k')
    await keyboard.type('Fill down')
    await keyboard.press('Enter')
    await cell(page, '007').waitFor({ state: 'detached' })
    // One cell takes what is above it.
    expect(await shown(page)).to.deep.equal([before[0], before[1], 'two ⏎ lines, "quoted",{"x": 1},new'])
    await keys.tabTo(grid(page))
    await keyboard.press('Control+z')
    await cell(page, '007').waitFor()
    // Merged cells of a spreadsheet leave the places they cover empty.
    await keyboard.press('Control+End')
    await keyboard.press('ArrowDown')
    await keyboard.press('Home')
    await keyboard.press('ArrowRight')
    await paste(page, '', EXCEL)
    await told(page, '2 changed, 4 added')
    expect((await shown(page)).slice(3)).to.deep.equal(['Europe,,north', ',Oslo  N,1 ⏎ 2', ',Bergen,'])
    await keyboard.press('Control+z')
    await told(page, '2 changed, 1 added')
    // 100,000 cells are shown first.
    await keyboard.press('Control+End')
    await keyboard.press('ArrowDown')
    await keyboard.press('Home')
    await keyboard.press('ArrowRight')
    const line = (n: number): string => ['p', 'q', 'r', 's'].map((it) => `${it}${n}`).join('\t')
    await paste(page, Array.from({ length: 25_000 }, (_, n) => line(n)).join('\n'))
    const preview = page.getByRole('dialog', { name: 'Paste 25,000 rows of 4 columns' })
    await preview.getByText('This adds 25,000 rows and 1 column.').waitFor()
    await preview.getByText('q5').waitFor()
    await visit.expectNoBarriers()
    await keys.press(preview.getByRole('button', { name: 'Paste', exact: true }))
    await told(page, '2 changed, 25,001 added')
    await cell(page, 's24999').waitFor()
    await keyboard.press('Control+z')
    await told(page, '2 changed, 1 added')
    await save(page)
    await keys.expectNoMouse()
    const rows = await rowsOf('pasted')
    expect(rows[1]).to.deep.equal({ a: '=SUM(A1:A9)', b: '{"x": 1}', 'column 3': 'new' })
    expect(rows[2]).to.deep.equal({ a: 'two\nlines, "quoted"', b: '007', 'column 3': 'new' })
    await visit.close()
  })

  it('adds, duplicates, moves and removes rows and columns, each undone at once, and commits it as one delta', async () => {
    await seed(
      'moved',
      ['a', 'b', 'c', 'd'].map((word) => ({ word, n: 1, old: 'x' })),
    )
    const visit = await bench.visit({ path: '/t/moved' })
    const { page } = visit
    const { keyboard } = page
    const act = async (menu: string, item: string): Promise<void> => {
      await bar(page).getByRole('button', { name: menu, exact: true }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await cell(page, 'd').click()
    await keyboard.press('Alt+ArrowUp')
    await keyboard.press('Alt+ArrowUp')
    await told(page, '1 moved')
    await cell(page, 'a').click()
    await act('Row', 'Duplicate the selected rows')
    await cell(page, 'b').click()
    await act('Row', 'Insert a row above')
    await grid(page).focus()
    await keyboard.type('new')
    await keyboard.press('Enter')
    await cell(page, 'c').click()
    await act('Row', 'Remove the selected rows')
    await act('Column', 'Rename or change the type')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('letter')
    await dialog.getByRole('button', { name: 'Change column' }).click()
    await grid(page).getByRole('gridcell', { name: 'x', exact: true }).first().click()
    await act('Column', 'Remove the column')
    await grid(page).getByRole('gridcell', { name: '1', exact: true }).first().click()
    await act('Column', 'Move the column left')
    await told(page, '2 added, 1 removed, 1 moved, 2 columns changed')
    await visit.expectNoBarriers()
    await page.reload()
    await told(page, '2 added, 1 removed, 1 moved, 2 columns changed')
    await save(page)
    expect(await versionsOf('moved')).to.equal(2)
    const rows = await rowsOf('moved')
    expect(rows.map(({ letter }) => letter)).to.deep.equal(['a', 'a', 'd', 'new', 'b'])
    expect(Object.keys(rows[0] ?? {})).to.deep.equal(['n', 'letter'])
    await visit.close()
  })

  it('merges what two people changed: other cells by itself, the same cell as one of them decides', async () => {
    await seed(
      'shared',
      ['a', 'b', 'c'].map((word) => ({ word, by: 'nobody', n: 1 })),
    )
    const first = await bench.visit({ path: '/t/shared' })
    const second = await bench.visit({ path: '/t/shared' })
    const keys = await keysOf(second.page)
    const type = async (
      { page }: { readonly page: Page },
      at: string,
      text: string,
      last = 'c',
    ): Promise<void> => {
      await page.goto(`${bench.url}/t/shared?${at}`)
      await cell(page, last).waitFor()
      await grid(page).focus()
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
      await told(page, 'Draft kept in this browser')
    }
    await type(first, 'at=1&column=by', 'first')
    await type(second, 'at=2&column=by', 'second')
    await save(first.page)
    await keys.press(second.page.getByRole('button', { name: 'show', exact: true }))
    await told(second.page, 'v2 was saved meanwhile')
    await save(second.page)
    expect((await rowsOf('shared')).map(({ by }) => by)).to.deep.equal(['first', 'second', 'nobody'])
    await cell(second.page, 'first').waitFor()
    // Both change one cell; the second one also another.
    await type(first, 'at=3&column=by', 'first again')
    await type(second, 'at=3&column=by', 'second again')
    await type(second, 'at=3&column=word', 'C')
    await save(first.page)
    await second.page.keyboard.press('Control+s')
    await second.page.keyboard.press('Control+Enter')
    const sheet = second.page.getByRole('dialog')
    await sheet.getByText('1 conflict').first().waitFor()
    await second.expectNoBarriers()
    await sheet.getByText('first again').first().waitFor()
    // A merge that is left for more changes leaves no variant behind.
    await keys.press(sheet.getByRole('button', { name: 'Cancel' }))
    await type(second, 'at=1&column=word', 'A', 'C')
    await second.page.keyboard.press('Control+s')
    await second.page.keyboard.press('Control+Enter')
    await sheet.getByText('first again').first().waitFor()
    await keys.press(sheet.getByRole('button', { name: /^Use incoming for all/ }))
    await keys.press(sheet.getByRole('button', { name: 'Save merged version' }))
    await sheet.waitFor({ state: 'detached' })
    await told(second.page, 'No changes')
    await keys.expectNoMouse()
    expect((await rowsOf('shared')).at(-1)).to.include({ word: 'C', by: 'second again' })
    const { testset_variants: left } = await bench.ask('POST', '/testsets/variants/query', {
      testset_refs: [{ slug: 'shared' }],
    })
    expect(left.map(({ slug }: { readonly slug: string }) => slug)).to.deep.equal(['shared'])
    await first.close()
    await second.close()
  })

  it('keeps what was typed when an upload replaces the rows, and says what is lost where both changed it', async () => {
    await seed(
      'replaced',
      ['a', 'b', 'c'].map((word) => ({ word, n: 1 })),
    )
    const visit = await bench.visit({ path: '/t/replaced' })
    const { page } = visit
    await cell(page, 'b').click()
    await page.keyboard.type('typed')
    await page.keyboard.press('Enter')
    await page.keyboard.type('also typed')
    await page.keyboard.press('Enter')
    await page.keyboard.type('a row')
    await page.keyboard.press('Enter')
    await told(page, '2 changed, 1 added')
    // Of row b another cell is changed, row c is gone, and a new one is there.
    const form = new FormData()
    form.append('file', new Blob(['word,n,__dedup_id__\na,1,row-0\nb,2,row-1\nd,3,row-9\n']), 'rows.csv')
    const uploaded = await fetch(`${bench.url}/simple/testsets/replaced/upload`, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${bench.key}` },
      body: form,
    })
    expect(uploaded.status).to.equal(200)
    await page.getByRole('button', { name: 'show', exact: true }).click()
    await cell(page, 'also typed').waitFor()
    await page.keyboard.press('Control+s')
    await page.keyboard.press('Control+Enter')
    const sheet = page.getByRole('dialog')
    await sheet.getByText('1 conflict').first().waitFor()
    await sheet.getByRole('button', { name: /^Use incoming for all/ }).click()
    await sheet.getByRole('button', { name: 'Save merged version' }).click()
    await sheet.waitFor({ state: 'detached' })
    await told(page, 'No changes')
    const words = (await rowsOf('replaced')).map(({ word, n }) => `${word} ${n}`)
    expect(words).to.have.members(['a 1', 'typed 2', 'also typed 1', 'd 3', 'a row undefined'])
    await visit.close()
  })

  it('takes what is typed into a row that is still loading, and keeps the dialog of a save until the new version is shown', async () => {
    await seed('slow', [{ word: 'a' }, { word: 'b' }])
    const visit = await bench.visit()
    const { page } = visit
    const { keyboard } = page
    /** Holds some requests of an address until it is called. */
    async function hold(address: string, isHeld: (request: Request) => boolean): Promise<() => void> {
      let release = (): void => undefined
      const released = new Promise<void>((resolve) => (release = resolve))
      await page.route(address, async (route) => {
        if (isHeld(route.request())) await released
        await route.continue()
      })
      return release
    }
    const showRows = await hold('**/testsets/revisions/retrieve', (request) =>
      /"limit":128/.test(request.postData() ?? ''),
    )
    await visit.go('/t/slow')
    await grid(page).focus()
    await keyboard.press('ArrowRight')
    await keyboard.type('typed')
    await keyboard.press('Enter')
    await told(page, '1 changed')
    showRows()
    await cell(page, 'typed').waitFor()
    await cell(page, 'b').waitFor()
    const { testset_revision: first } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'slow' },
    })
    const showVersion = await hold('**/columns.json', (request) => !request.url().includes(first.id))
    await keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: /^Save version/ })
    await dialog.waitFor()
    await keyboard.press('Control+Enter')
    await page.getByText('Saved. The new version is loading.', { exact: true }).waitFor()
    expect(await dialog.count(), 'the dialog stays').to.equal(1)
    showVersion()
    await dialog.waitFor({ state: 'detached' })
    await keyboard.type('again')
    await keyboard.press('Enter')
    await save(page)
    expect(await rowsOf('slow')).to.deep.equal([{ word: 'typed' }, { word: 'again' }])
    await visit.close()
  })

  it('saves once when the answer is lost, also after a reload', async () => {
    await seed('lost', [{ word: 'a' }])
    const proxy = await startCuttingProxy(bench.url)
    try {
      const visit = await bench.visit({
        ...{ path: '/t/lost', through: proxy.url, expected: /ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/ },
      })
      const { page } = visit
      await cell(page, 'a').click()
      await page.keyboard.type('b')
      const lost = proxy.loseAnswersOf('/revisions/commit')
      // What is being typed is saved, too.
      await page.keyboard.press('Control+s')
      await page.getByRole('dialog', { name: /^Save version/ }).waitFor()
      await page.keyboard.type('Once')
      await page.keyboard.press('Control+Enter')
      await lost
      await page.getByRole('alert').getByText('The server does not answer').waitFor()
      expect(await versionsOf('lost')).to.equal(2)
      proxy.loseNone()
      await page.reload()
      await cell(page, 'b').waitFor()
      await told(page, '1 changed')
      await save(page)
      expect(await versionsOf('lost')).to.equal(2)
      await visit.close()
    } finally {
      await proxy.close()
    }
  })

  it('is edited in one tab at a time, and only with the scope write', async () => {
    await seed('tabs', [{ word: 'a' }])
    const visit = await bench.visit({ path: '/t/tabs' })
    const { page } = visit
    await cell(page, 'a').click()
    await page.keyboard.type('b')
    await page.keyboard.press('Enter')
    await told(page, '1 changed')
    const other = await visit.context.newPage()
    await other.goto(`${bench.url}/t/tabs`)
    await told(other, 'Another tab of this browser edits these rows.')
    await bar(other).getByRole('button', { name: 'Edit here' }).click()
    await cell(other, 'b').waitFor()
    await told(other, '1 changed')
    await told(page, 'Another tab of this browser edits these rows.')
    await visit.close()
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const reader = await bench.visit({ path: '/t/tabs', key: key.secret })
    await told(reader.page, 'lacks the scope write')
    await cell(reader.page, 'a').click()
    await reader.page.keyboard.press('x')
    await cell(reader.page, 'a').waitFor()
    expect(await reader.page.getByRole('textbox', { name: /^Cell/ }).count()).to.equal(0)
    await reader.expectNoBarriers()
    await reader.close()
  })
})
