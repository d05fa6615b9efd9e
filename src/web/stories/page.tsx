import { type ReactNode, useState } from 'react'
import { Page } from '../parts/page/page.tsx'
import styles from './stories.module.css'
import { COMMAND } from '../shell/document.ts'
import { ExactNumber } from '../api/json.ts'
import { Problem, Unreachable } from '../api/call.ts'
import { Button } from '../parts/button/button.tsx'
import { CodeLines, Fold, Highlighted } from '../parts/text/text.tsx'
import { Conversation } from '../parts/conversation/conversation.tsx'
import { Copyable } from '../parts/copy/copyable.tsx'
import { TextDiff } from '../parts/diff/lines.tsx'
import { Editor } from '../parts/editor/editor.tsx'
import { EvaluationState } from '../parts/evaluation/evaluation.tsx'
import { ChoiceField, LongTextField, TextField } from '../parts/fields/fields.tsx'
import { Grid } from '../parts/grid/grid.tsx'
import { JsonView } from '../parts/json/json-view.tsx'
import Markdown from '../parts/markdown/markdown.tsx'
import { Menu } from '../parts/menu/menu.tsx'
import { PromptText } from '../parts/prompt/prompt-text.tsx'
import { RevisionChip } from '../parts/chips/chips.tsx'
import { Empty, Failure, Progress, Skeleton } from '../parts/states/states.tsx'
import { Table } from '../parts/table/table.tsx'
import { LinkTabs } from '../parts/tabs/tabs.tsx'
import { UploadShown } from '../parts/upload/upload.tsx'

/** All parts in their states, for development: `npm run dev`, at `/stories`. */
export default function StoriesPage() {
  return (
    <Page crumbs={[{ label: 'Parts' }]} wide>
      <div className={styles.stories}>
        {STORIES.map(([name, drawn]) => (
          <Story key={name} name={name}>
            {drawn}
          </Story>
        ))}
      </div>
    </Page>
  )
}

function Story({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section className={styles.story} aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  )
}

const DATE = '2026-01-15T12:00:00Z'
const HOSTILE = '<script>alert(1)</script> \u202Egnp.exe'
const nothing = (): void => undefined

/** The parts by name, in their states. */
const STORIES: readonly (readonly [name: string, drawn: ReactNode])[] = [
  [
    'Buttons',
    <div className="row">
      <Button kind="primary">Commit to main</Button>
      <Button>Cancel</Button>
      <Button kind="quiet">Show more</Button>
      <Button kind="danger">Delete support-bot</Button>
      <Button busy>Committing …</Button>
      <Button refusal="No changes.">Commit to main</Button>
      <Menu label="More" items={[{ label: 'Fork …', note: 'from v3', run: nothing }]} />
    </div>,
  ],
  ['Fields', <Fields />],
  [
    'Revision chip',
    <RevisionChip
      to="/"
      version={12}
      commit="3f2a91c0"
      author="Pat <pat@example.com>"
      date={DATE}
      environments={['development', 'staging', 'production', 'canary']}
    />,
  ],
  [
    'Evaluation states',
    <div className="row">
      {(['running', 'finished', 'interrupted'] as const).map((state) => (
        <EvaluationState key={state} state={state} />
      ))}
    </div>,
  ],
  [
    'Conversation',
    <Conversation
      marked={1}
      messages={[
        { role: 'system', content: 'You answer tickets.\nBe kind.' },
        { role: 'user', content: HOSTILE },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', function: { name: 'find_page', arguments: '{"id": 7}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Page 7' }] },
      ]}
    />,
  ],
  ['Text of a prompt', <PromptText text={'Answer in {{language}}.\nBe brief.'} format="curly" />],
  [
    'JSON',
    <JsonView
      name="data"
      value={{ seed: new ExactNumber('12345678901234567890'), list: [1, 'two', null], text: HOSTILE }}
    />,
  ],
  [
    'Text diff',
    <TextDiff
      label="What changed"
      base={'One line.\nAt most 120 words.\nBye.'}
      head={'One line.\nAt most 80 words.\nBye.\nThanks.'}
    />,
  ],
  ['Code', <CodeLines label="Script" text={'export function evaluate() {\n  return 1\n}\n'} />],
  ['Editor', <Edited />],
  ['Fold', <Fold text={Array.from({ length: 40 }, (_, at) => `Line ${at}`).join('\n')} />],
  [
    'Markdown',
    <Markdown text={'# Title\n\n- one\n- [two](https://example.com)\n\n![a picture](http://x/y.png)'} />,
  ],
  ['Words that were found', <Highlighted text="the capital of France" ranges={[[4, 11]]} />],
  ['Command', <Copyable label="Clones it" text="git clone http://127.0.0.1:3000/git/workflows/bot.git" />],
  [
    'Table',
    <Table
      caption="Versions"
      rows={[1, 2, 3]}
      keyOf={String}
      isAt={(row) => row === 2}
      isMarked={(row) => row === 3}
      columns={[
        { name: 'Version', cell: (row) => `v${row}` },
        { name: 'Rows', number: true, cell: (row) => (row * 1000).toLocaleString() },
      ]}
    />,
  ],
  [
    'Grid',
    <div className={styles.grid}>
      <Rows />
    </div>,
  ],
  [
    'Tabs',
    <LinkTabs
      label="Views"
      tabs={[
        { label: 'Rows', to: '/stories', isHere: true, count: 12 },
        { label: 'Versions', to: '/', isHere: false },
      ]}
    />,
  ],
  ['Loading', <Skeleton label="Loading" lines={3} />],
  ['Progress', <Progress label="Running" done={3} total={12} unit="rows" />],
  ['Empty', <Empty command={`${COMMAND} demo`}>Nothing is here yet.</Empty>],
  ['Failure', <Failure error={new Problem(409, { detail: 'The slug "bot" is taken.' })} retry={nothing} />],
  [
    'Upload whose answer is lost',
    <UploadShown
      state={{ at: 'failed', error: new Unreachable(), isSent: true }}
      arrived={{ to: '/', label: 'See the versions of rows' }}
      retry={nothing}
    />,
  ],
]

function Fields() {
  const [text, setText] = useState('bot')
  const common = { value: text, onChange: setText }
  return (
    <>
      <TextField label="Slug" {...common} hint="Used in code and links. It can’t be changed later." />
      <TextField label="Taken slug" {...common} problem="is taken" />
      <LongTextField label="Message" {...common} rows={2} />
      <ChoiceField
        label="Format"
        {...common}
        choices={['bot', 'curly'].map((value) => ({ value, label: value }))}
      />
    </>
  )
}

function Edited() {
  const [value, setValue] = useState('{"temperature": 0.7}')
  return <Editor label="Parameters" language="json" value={value} onChange={setValue} />
}

const COLUMNS = ['country', 'capital', 'count']

function Rows() {
  const [active, setActive] = useState({ row: 1, column: 1 })
  const rowAt = (at: number) => ({
    key: `row-${at}`,
    values: { country: 'Norway', capital: HOSTILE, count: at },
  })
  return (
    <Grid
      label="Rows"
      keyName="Row ID"
      columns={COLUMNS}
      total={1000}
      rowAt={rowAt}
      sample={[rowAt(0)]}
      onSeen={nothing}
      active={active}
      onActive={setActive}
      onOpen={nothing}
      onCopy={() => ''}
      widthsKey="stories"
      marked="row-2"
    />
  )
}
