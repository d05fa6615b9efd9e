import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { exampleOfSchema } from '../../../src/http/docs/example-of-schema.ts'
import type { OpenApiDocument } from '../../../src/http/docs/open-api-document.ts'
import { type Door, openDoor } from '../door.ts'

const document: OpenApiDocument & { readonly components: object; readonly openapi: string } = {
  openapi: '3.1.0',
  info: { title: 'Prompts & <more>', version: '1.0', description: 'First.\n\nUse `slug`.' },
  servers: [{ url: 'https://prompts.example.org/' }],
  tags: [{ name: 'workflows', description: 'All of them.' }],
  paths: {
    '/workflows/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
      get: { tags: ['workflows'], summary: 'Read one', responses: { 200: { description: 'Here it is' } } },
      put: {
        tags: ['workflows'],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['workflow'],
                properties: { workflow: { $ref: '#/components/schemas/Workflow' } },
              },
            },
          },
        },
        responses: { 422: { description: '<script>alert(1)</script>' } },
      },
    },
    '/health': { get: { summary: 'Alive', security: [], responses: {} } },
  },
  components: {
    schemas: {
      Workflow: {
        type: 'object',
        required: ['slug'],
        properties: {
          slug: { type: 'string', description: 'Its "name"', examples: ["it's"] },
          children: { type: 'array', items: { $ref: '#/components/schemas/Workflow' } },
        },
      },
    },
  },
}

describe('GET /docs', () => {
  let door: Door
  let page: string
  let policy: string

  before(async () => {
    door = await openDoor(() => undefined, { openApi: () => document })
    const response = await fetch(`${door.url}/docs`)
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8')
    policy = response.headers.get('content-security-policy') ?? ''
    page = await response.text()
  })
  after(() => door.close())

  it('shows every operation under its tag', () => {
    expect(page).to.contain('<h2>workflows</h2><p>All of them.</p>').and.contain('<h2>other</h2>')
    for (const words of ['Read one', 'Alive', '/workflows/{id}', 'PUT', 'Here it is'])
      expect(page).to.contain(words)
  })

  it('follows references, and stops where a schema holds itself', () => {
    expect(page).to.contain('Its &#34;name&#34;').and.contain('array of object').and.contain('the same again')
  })

  it('gives a curl line that a shell understands, with a key only where one is needed', () => {
    expect(page).to.contain(`curl -X PUT &#39;https://prompts.example.org/workflows/{id}&#39;`)
    expect(page).to.contain(
      `-d &#39;{&#34;workflow&#34;:{&#34;slug&#34;:&#34;it&#39;\\&#39;&#39;s&#34;}}&#39;`,
    )
    expect(page.split('ApiKey $BRANCHPOINT_KEY')).to.have.length(3)
  })

  it('asks the server in BRANCHPOINT_URL where the document names it by a path alone', async () => {
    const { url, close } = await openDoor(() => undefined, {
      openApi: () => ({ ...document, servers: [{ url: '/' }] }),
    })
    const relative = await (await fetch(`${url}/docs`)).text()
    expect(relative).to.contain(`curl -X GET &#34;$BRANCHPOINT_URL&#34;&#39;/workflows/{id}&#39;`)
    await close()
  })

  it('escapes what the document says', () => {
    expect(page).to.contain('Prompts &#38; &#60;more&#62;').and.not.contain('<script>alert')
    expect(page).to.contain('<p>Use <code>slug</code>.</p>')
  })

  it('loads nothing, and its policy allows just its own style and script', () => {
    expect(page).not.to.match(/(?:src|href)="(?!#|openapi\.json")/)
    expect(policy).to.contain("default-src 'none'").and.not.contain('unsafe')
    for (const [tag, directive] of [
      ['style', 'style-src'],
      ['script', 'script-src'],
    ] as const) {
      const inline = page.split(`<${tag}>`)[1]?.split(`</${tag}>`)[0] ?? ''
      const digest = createHash('sha256').update(inline).digest('base64')
      expect(policy).to.contain(`${directive} 'sha256-${digest}'`)
    }
  })
})

describe('examples made from schemas', () => {
  for (const [schema, example] of [
    [{ type: 'string' }, 'text'],
    [{ type: ['integer', 'null'] }, 1],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ const: 0 }, 0],
    [{ default: false }, false],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
    [{ type: 'array', items: { type: 'number' } }, [1]],
    [
      { allOf: [{ properties: { a: { type: 'null' } } }, { properties: { b: { const: 1 } } }] },
      { a: null, b: 1 },
    ],
    [{ properties: { a: { const: 1 }, b: { const: 2 } }, required: ['b'] }, { b: 2 }],
    [true, {}],
  ] as const) {
    it(`${JSON.stringify(schema)} → ${JSON.stringify(example)}`, () => {
      expect(exampleOfSchema(document, schema)).to.deep.equal(example)
    })
  }
})
