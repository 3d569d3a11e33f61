/** An answer with everything that a page must show as text. */
export function hostile(text: string): string {
  const external = text.split(' ')[1] ?? 'http://external.invalid';
  return [
    '# A heading',
    `<img src=x onerror="fetch('${external}/html')"><script>fetch('${external}/script')</script>`,
    `[a script](javascript:fetch('${external}/link')) [data](data:text/html,x) [a page](https://example.com/page)`,
    `![a picture](${external}/picture.png)`,
    '| name | value |\n| --- | --- |\n| `a` | **b** |',
    `right to left: \u202Egnirts\u202C and a zero: \0.`,
    `<iframe src="${external}/frame"></iframe>`,
    text.includes('long') ? 'x'.repeat(1_000_000) : '',
  ].join('\n\n');
}
