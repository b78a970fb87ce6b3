// What report.html does: tables sorted by a click, and the charts, which Chart.js draws where it
// was there when cacheoff was built. The page says everything in its text too; this adds to it.
(function () {
  'use strict';

  const kDashes = [[], [9, 4], [2, 3], [9, 4, 2, 4]];
  const kColours = 8;
  // With more cells than this, only the best are on at first.
  const kLinesAtFirst = 12;

  // Neighbours differ in colour and dash; the pair repeats after 32 cells.
  function colourOf(index) {
    return index % kColours + 1;
  }
  function dashOf(index) {
    return kDashes[(index + Math.floor(index / kColours)) % kDashes.length];
  }
  function styleValue(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // Four significant digits, as in the table.
  function figureText(value) {
    if (value === null || value === undefined || !isFinite(value)) return '-';
    const size = Math.abs(value);
    return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
  }

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    return made;
  }

  // ---- tables -------------------------------------------------------------------------------

  // What a row is sorted by: a number where the cell has one, null where it has nothing.
  function sortKey(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.value !== undefined) {
      return cell.dataset.value === '' ? null : Number(cell.dataset.value);
    }
    const text = cell.textContent.trim();
    return text === '-' ? null : text;
  }

  function sortRows(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: sortKey(row, column) }));
    rows.sort((left, right) => {
      if (left.key === null || right.key === null) {
        return (left.key === null) - (right.key === null);  // Nothing comes last either way.
      }
      const order = typeof left.key === 'number' && typeof right.key === 'number'
        ? left.key - right.key
        : String(left.key).localeCompare(String(right.key), 'en', { numeric: true });
      return descending ? -order : order;
    });
    body.append(...rows.map((entry) => entry.row));
  }

  function makeSortable(table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = element('button', '', { type: 'button' });
      button.append(head.firstChild);  // The title; a unit stays below it.
      head.prepend(button);
      button.addEventListener('click', () => {
        const before = head.getAttribute('aria-sort');
        // Figures are looked at from the greatest, names from the first.
        const descending = before ? before === 'ascending' : head.classList.contains('n');
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
        sortRows(table, column, descending);
      });
    });
  }

  // Arrow keys scroll a table that is wider than the page, once it can have the focus.
  function makeScrollable(box) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute('role', 'region');
      box.setAttribute('aria-label', 'Table, wider than the page');
    } else {
      for (const name of ['tabindex', 'role', 'aria-label']) box.removeAttribute(name);
    }
  }

  function makeAllScrollable() {
    document.querySelectorAll('.scroll').forEach(makeScrollable);
  }

  // ---- charts -------------------------------------------------------------------------------

  const charts = [];

  // Colours of text, grid and lines as the page has them now.
  function applyColours(chart) {
    const text = styleValue('--text');
    const grid = styleValue('--rule');
    chart.options.color = text;
    for (const scale of Object.values(chart.options.scales)) {
      scale.ticks.color = text;
      scale.grid.color = grid;
      scale.grid.borderColor = styleValue('--strong-rule');
      scale.title.color = text;
    }
    for (const dataset of chart.data.datasets) {
      const colour = styleValue('--c' + dataset.colourNumber);
      dataset.borderColor = colour;
      dataset.backgroundColor = colour;
      dataset.pointBackgroundColor = colour;
      dataset.pointBorderColor = colour;
    }
    chart.update();
  }

  function scaleOf(title, more) {
    return Object.assign({ title: { display: true, text: title }, grid: {}, ticks: {} }, more);
  }

  // Arrow keys on a focused chart walk from point to point, as the mouse does.
  function walkByKeys(canvas, chart, readout) {
    let at = -1;
    canvas.tabIndex = 0;
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const shown = chart.data.datasets
        .map((dataset, index) => ({ dataset, index }))
        .filter((entry) => chart.isDatasetVisible(entry.index) && entry.dataset.data.length > 0);
      if (shown.length === 0) return;
      const length = Math.max(...shown.map((entry) => entry.dataset.data.length));
      at = Math.min(Math.max(at + step, 0), length - 1);
      const active = shown
        .filter((entry) => at < entry.dataset.data.length)
        .map((entry) => ({ datasetIndex: entry.index, index: at }));
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
      chart.update('none');
      readout.textContent = chart.tooltip.title.join(' ') + ': ' +
        chart.tooltip.body.map((part) => part.lines.join(' ')).join('; ');
    });
  }

  // Draws into a section's canvas; `section` says how in its text.
  function draw(section, config) {
    const canvas = section.querySelector('canvas');
    const readout = element('p', '', { class: 'readout', 'aria-live': 'polite' });
    section.querySelector('.canvas').after(readout);
    const chart = new Chart(canvas, config);
    charts.push(chart);
    applyColours(chart);
    walkByKeys(canvas, chart, readout);
    return chart;
  }

  function lineOptions(x, y, tooltip) {
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: { x, y },
      plugins: {
        legend: { display: false },
        tooltip: {
          itemSort: (left, right) => right.parsed.y - left.parsed.y,
          callbacks: tooltip,
        },
      },
    };
  }

  function lineOf(cell, index, pointRadius) {
    return {
      label: cell.name,
      data: [],
      colourNumber: colourOf(index),
      borderDash: dashOf(index),
      borderWidth: 2,
      pointRadius,
      pointHitRadius: 8,
      hidden: index >= kLinesAtFirst,
    };
  }

  function swatch(index) {
    const space = 'http://www.w3.org/2000/svg';
    const picture = document.createElementNS(space, 'svg');
    picture.setAttribute('width', '34');
    picture.setAttribute('height', '8');
    picture.setAttribute('aria-hidden', 'true');
    const line = document.createElementNS(space, 'line');
    const attributes = { x1: 0, y1: 4, x2: 34, y2: 4, 'stroke-width': 3,
                         'stroke-dasharray': dashOf(index).join(' '),
                         stroke: 'var(--c' + colourOf(index) + ')' };
    for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
    picture.append(line);
    return picture;
  }

  // A button for each line that switches it on and off, and two for all of them.
  function addLegend(section, chart) {
    const legend = section.querySelector('.legend');
    const buttons = chart.data.datasets.map((dataset, index) => {
      const button = element('button', '', { type: 'button', 'data-cell': dataset.label });
      button.append(swatch(index), dataset.label);
      button.addEventListener('click', () => show(index, !chart.isDatasetVisible(index)));
      return button;
    });
    function show(index, visible) {
      chart.setDatasetVisibility(index, visible);
      buttons[index].setAttribute('aria-pressed', String(visible));
      chart.update('none');
    }
    const all = element('button', 'all on', { type: 'button', class: 'all' });
    const none = element('button', 'all off', { type: 'button', class: 'all' });
    all.addEventListener('click', () => buttons.forEach((_, index) => show(index, true)));
    none.addEventListener('click', () => buttons.forEach((_, index) => show(index, false)));
    buttons.forEach((_, index) => show(index, chart.isDatasetVisible(index)));
    legend.append(...buttons, all, none);
  }

  // Buttons of which one is pressed; `choose` gets its value, also for the first at once.
  function addChoice(section, choices, choose) {
    const controls = section.querySelector('.controls');
    const buttons = choices.map(([value, text]) => {
      const button = element('button', text, { type: 'button', 'data-choice': value });
      button.addEventListener('click', () => press(value));
      return button;
    });
    function press(value) {
      for (const button of buttons) {
        button.setAttribute('aria-pressed', String(button.dataset.choice === value));
      }
      choose(value);
    }
    controls.append(...buttons);
    press(choices[0][0]);
  }

  function points(pairs) {
    return pairs.map(([x, y]) => ({ x, y }));
  }

  function drawTrace(section, data) {
    const cells = data.cells.filter((cell) => cell.by_time.length > 0);
    if (cells.length === 0) return;
    section.hidden = false;
    const axes = {
      fill: ['fill volume / cache size', 'by_fill'],
      time: ['time since the start, s', 'by_time'],
    };
    const chart = draw(section, {
      type: 'line',
      data: { datasets: cells.map((cell, index) => lineOf(cell, index, 0)) },
      options: lineOptions(
        scaleOf('', { type: 'linear', beginAtZero: true }),
        scaleOf('good responses a second', { beginAtZero: true }),
        {
          title: (items) => items.length === 0 ? '' :
            figureText(items[0].parsed.x) + ' ' + chart.options.scales.x.title.text,
          label: (item) => item.dataset.label + ': ' + figureText(item.parsed.y) + '/s',
        }),
    });
    const choices = [['fill', 'over fill volume'], ['time', 'over elapsed time']];
    const hasFill = cells.some((cell) => cell.by_fill.length > 0);
    addChoice(section, hasFill ? choices : choices.slice(1), (axis) => {
      const [title, key] = axes[axis];
      chart.options.scales.x.title.text = title;
      chart.data.datasets.forEach((dataset, index) => {
        dataset.data = points(cells[index][key]);
      });
      chart.update('none');
    });
    addLegend(section, chart);
  }

  function drawPercentiles(section, data) {
    const cells = data.cells.filter((cell) => cell.times.all.some((time) => time !== null));
    if (cells.length === 0) return;
    section.hidden = false;
    // Each further nine is as far from the last: what is rare has its room.
    const places = data.percentiles.map((entry) => -Math.log10(1 - entry.percent / 100));
    const known = (at) => cells.some((cell) => cell.times.all[at] !== null);
    const last = places.reduce((found, _, at) => known(at) ? at : found, 0);
    const labelAt = (x) => {
      const found = places.findIndex((place) => Math.abs(place - x) < 1e-6);
      return found < 0 ? '' : data.percentiles[found].label;
    };
    const chart = draw(section, {
      type: 'line',
      data: { datasets: cells.map((cell, index) => lineOf(cell, index, 3)) },
      options: lineOptions(
        scaleOf('percentile of the responses', {
          type: 'linear',
          min: places[0],
          max: places[Math.max(last, 1)],
          ticks: {
            autoSkip: false,
            // On a phone the second of two that are near would be written over the first.
            callback(place) {
              return this.chart.width < 500 && labelAt(place) === '95 %' ? '' : labelAt(place);
            },
          },
          afterBuildTicks: (axis) => {
            axis.ticks = places.slice(0, last + 1).map((value) => ({ value }));
          },
        }),
        scaleOf('response time, ms', {
          type: 'logarithmic',
          ticks: { callback: (value) => /^[125]0*$|^0\.0*[125]$/.test(String(value)) ? value : '' },
        }),
        {
          title: (items) => items.length === 0 ? '' : labelAt(items[0].parsed.x),
          label: (item) => item.dataset.label + ': ' + figureText(item.parsed.y) + ' ms',
        }),
    });
    addChoice(section, [['all', 'all'], ['hit', 'hits'], ['miss', 'misses']], (part) => {
      chart.data.datasets.forEach((dataset, index) => {
        dataset.data = cells[index].times[part]
          .map((y, at) => ({ x: places[at], y }))
          .filter((point) => point.y !== null);
      });
      chart.update('none');
    });
    addLegend(section, chart);
  }

  // The interval of each bar as a line with ends, drawn over it.
  const whiskers = {
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const { ctx, scales } = chart;
      ctx.save();
      ctx.strokeStyle = styleValue('--text');
      ctx.lineWidth = 1.5;
      chart.data.datasets[0].intervals.forEach(([low, high], index) => {
        if (low === null || high === null) return;
        const [left, right] = [scales.x.getPixelForValue(low), scales.x.getPixelForValue(high)];
        const y = scales.y.getPixelForValue(index);
        ctx.beginPath();
        ctx.moveTo(left, y);
        ctx.lineTo(right, y);
        for (const end of [left, right]) {
          ctx.moveTo(end, y - 4);
          ctx.lineTo(end, y + 4);
        }
        ctx.stroke();
      });
      ctx.restore();
    },
  };

  // A name in lines of at most `length` characters where its hyphens allow that.
  function wrapName(name, length) {
    const lines = [''];
    for (const part of name.split(/(?<=-)/)) {
      const last = lines.length - 1;
      if (lines[last] !== '' && lines[last].length + part.length > length) {
        lines.push(part);
      } else {
        lines[last] += part;
      }
    }
    return lines;
  }

  // Horizontal bars, one a cell; several datasets are stacked.
  function drawBars(section, cells, unit, datasets, plugins) {
    section.hidden = false;
    section.querySelector('.canvas').style.height = 5 + 2.2 * cells.length + 'rem';
    draw(section, {
      type: 'bar',
      data: { labels: cells.map((cell) => cell.name), datasets },
      plugins,
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: 'y',
        interaction: { mode: 'index', axis: 'y', intersect: false },
        scales: {
          x: scaleOf(unit, { stacked: true, beginAtZero: true }),
          y: scaleOf('', {
            stacked: true,
            grid: { display: false },
            ticks: {
              autoSkip: false,
              callback(index) {
                return wrapName(cells[index].name, this.chart.width < 500 ? 16 : 40);
              },
            },
          }),
        },
        plugins: {
          legend: { display: datasets.length > 1 },
          tooltip: { callbacks: {
            label: (item) => {
              const interval = (item.dataset.intervals || [])[item.dataIndex];
              const range = interval && interval[0] !== null
                ? ' (' + figureText(interval[0]) + ' to ' + figureText(interval[1]) + ')' : '';
              return item.dataset.label + ': ' + figureText(item.parsed.x) + range;
            },
          } },
        },
      },
    });
  }

  function drawThroughput(section, data) {
    const cells = data.cells.filter((cell) => cell.throughput.median !== null);
    if (cells.length === 0) return;
    drawBars(section, cells, 'good responses a second', [{
      label: 'throughput',
      colourNumber: 1,
      data: cells.map((cell) => cell.throughput.median),
      intervals: cells.map((cell) => [cell.throughput.low, cell.throughput.high]),
    }], [whiskers]);
  }

  function drawProcessors(section, data) {
    const cells = data.cells.filter((cell) => cell.cpu_us.some((time) => time !== null));
    if (cells.length === 0) return;
    drawBars(section, cells, 'CPU time a request, µs', data.processes.map((process, index) => ({
      label: process,
      colourNumber: [1, 5, 6, 4][index],
      data: cells.map((cell) => cell.cpu_us[index] || 0),
    })), []);
  }

  function drawAll() {
    const data = JSON.parse(document.getElementById('report-data').textContent);
    Chart.defaults.font.family = 'system-ui, sans-serif';
    const drawings = {
      'chart-throughput': drawThroughput,
      'chart-trace': drawTrace,
      'chart-percentiles': drawPercentiles,
      'chart-processors': drawProcessors,
    };
    for (const [id, drawing] of Object.entries(drawings)) {
      const section = document.getElementById(id);
      if (section) drawing(section, data);
    }
    const recolour = () => charts.forEach(applyColours);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
    // Paper is white, whatever the screen is.
    addEventListener('beforeprint', () => {
      document.documentElement.classList.add('printing');
      recolour();
    });
    addEventListener('afterprint', () => {
      document.documentElement.classList.remove('printing');
      recolour();
    });
  }

  document.querySelectorAll('table.sortable').forEach(makeSortable);
  makeAllScrollable();
  addEventListener('resize', makeAllScrollable);
  if (typeof Chart !== 'undefined') drawAll();
})();
