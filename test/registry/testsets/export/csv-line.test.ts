import { expect } from 'chai'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { type Json, type JsonObject, isJsonObject } from '../../../../src/base/json/json.ts'
import { csvHeader, csvLine } from '../../../../src/registry/testsets/csv-line.ts'

function row(text: string): JsonObject {
  const value: Json = parseJson(text)
  if (!isJsonObject(value)) throw new Error('not a row')
  return value
}

describe('testset files: CSV lines', () => {
  it('hold what each column has, quoted only where it must be', () => {
    const data = row(
      '{"s":"a b","comma":"a,b","quote":"say \\"x\\"","lines":"1\\n2","t":true,"n":1e400,"o":{"b":"é","a":[1]},"null":null}',
    )
    const columns = ['s', 'comma', 'quote', 'lines', 't', 'n', 'o', 'null', 'missing']
    expect(csvLine(columns, data)).to.equal(
      'a b,"a,b","say ""x""","1\n2",true,1e400,"{""b"":""é"",""a"":[1]}",,\r\n',
    )
    expect(csvHeader(['a', 'b,c', '"'])).to.equal('a,"b,c",""""\r\n')
    // a byte order mark, were it the first thing in the file
    expect(csvHeader(['\ufeffa', 'b'])).to.equal('"\ufeffa",b\r\n')
  })

  it('are never blank', () => {
    for (const text of ['{"a":""}', '{"a":null}', '{}']) expect(csvLine(['a'], row(text))).to.equal('""\r\n')
  })

  it('get an apostrophe before formulas where asked, and only there', () => {
    const escapeFormulas = true
    const columns = ['a', 'b']
    for (const formula of ['=1+1', '+1+1', '-x', '@SUM(A1)', '\tx', '-1;2']) {
      const data = { a: formula, b: 'x' }
      expect(csvLine(columns, data)).to.equal(`${formula},x\r\n`)
      expect(csvLine(columns, data, { escapeFormulas })).to.equal(`'${formula},x\r\n`)
    }
    expect(csvLine(columns, { a: '\r=1', b: '=a,b' }, { escapeFormulas })).to.equal(`"'\r=1","'=a,b"\r\n`)
    expect(csvLine(columns, { a: -1.5, b: '+1e5' }, { escapeFormulas })).to.equal('-1.5,+1e5\r\n')
    expect(csvLine(columns, { a: "'=1", b: 'a=1' }, { escapeFormulas })).to.equal("'=1,a=1\r\n")
    expect(csvHeader(['=1', 'b'], { escapeFormulas })).to.equal("'=1,b\r\n")
  })
})
