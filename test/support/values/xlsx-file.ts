import { crc32, deflateRawSync } from 'node:zlib'

/** What of an .xlsx file is written by hand. */
export interface XlsxParts {
  /** The name of each sheet, and the XML of what is inside of its `sheetData`. */
  readonly sheets: readonly (readonly [name: string, rows: string])[]
  readonly sharedStrings?: readonly string[]
  /** Parts beside these, by their paths. */
  readonly more?: Readonly<Record<string, string | Buffer>>
  readonly date1904?: boolean
}

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Styles by number: 0 general, 1 a date, 2 a date and time, 3 a time, 4 percent, 5 a date in a format of one's own. */
const STYLES = [0, 14, 22, 21, 9, 164]

/** An .xlsx file as Excel would write it, part by part. */
export function xlsxFile({ sheets, sharedStrings = [], more = {}, date1904 = false }: XlsxParts): Buffer {
  const names = sheets.map(([name]) => name)
  const parts: Record<string, string | Buffer> = {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': `<Relationships ${RELATIONS}><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${OFFICE}">${date1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${names
      .map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships ${RELATIONS}>${names
      .map(
        (_, at) =>
          `<Relationship Id="rId${at + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
      )
      .join(
        '',
      )}<Relationship Id="s" Type="${OFFICE}/styles" Target="styles.xml"/><Relationship Id="t" Type="${OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet ${MAIN}><numFmts count="1"><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/></numFmts><cellXfs count="${STYLES.length}">${STYLES.map(
      (id) => `<xf numFmtId="${id}"/>`,
    ).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${MAIN}>${sharedStrings.map((text) => `<si>${text}</si>`).join('')}</sst>`,
    ...more,
  }
  sheets.forEach(([, rows], at) => {
    parts[`xl/worksheets/sheet${at + 1}.xml`] =
      `<?xml version="1.0"?><worksheet ${MAIN}><sheetData>${rows}</sheetData></worksheet>`
  })
  return zipFile(parts)
}

/** A zip archive of these files. */
export function zipFile(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const name = Buffer.from(path)
    const about = Buffer.alloc(26)
    about.writeUInt16LE(20, 0)
    about.writeUInt16LE(8, 4)
    about.writeUInt32LE(crc32(bytes), 10)
    about.writeUInt32LE(packed.length, 14)
    about.writeUInt32LE(bytes.length, 18)
    about.writeUInt16LE(name.length, 22)
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), about, name, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, rest, name]))
    bodies.push(body)
    at += body.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...bodies, entries, Buffer.from('PK\x05\x06'), end])
}
