import { expect } from 'chai'
import { runDocument } from './run-document.ts'

const DOCUMENT = `# A document

\`\`\`sh
name=World
greet() { echo "Hello, $1!"; }
\`\`\`

\`\`\`console
exit 1
\`\`\`

\`\`\`sh
greet "$name"
false | cat
echo on "$(basename "$PWD")"
\`\`\`

It prints

\`\`\`text
Hello, …!
on branchpoint
\`\`\`

\`\`\`sh
git config user.name
true && false
cat "…"
: npm start
:
\`\`\`

\`\`\`text
Somebody else
\`\`\`
`

describe('the runner of documents', () => {
  it('runs the sh blocks in one shell in a fresh checkout, and tells by line what is not as the document says', async () => {
    const problems = await runDocument(DOCUMENT)
    expect(problems.map((it) => it.split('\n')[0])).to.deep.equal([
      'line 14 fails (1): false | cat',
      'the block of line 12 printed:',
      'line 27 has &&: true && false',
      'line 28 has a placeholder: cat "…"',
      'line 29 holds the terminal, and others follow: : npm start',
      'line 27 fails (1): true && false',
      'line 28 fails (1): cat "…"',
      'line 33 shows what the block of line 25 does not print',
      'the block of line 25 printed:',
    ])
    expect(problems.at(-1)).to.contain('A Reader\n')
  })

  it('tells where the shell ends before the document does', async () => {
    const problems = await runDocument('```sh\necho "unfinished\n```\n')
    expect(problems).to.have.length(1)
    expect(problems[0]).to.match(/^The shell ended in the block of line 1: .*unexpected EOF/)
  })
})
