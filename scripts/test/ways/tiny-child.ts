process.stdin.on('data', () => inChild())
process.stdout.write('ready\n')

function inChild(): void {
  process.stdout.write('done\n')
}
